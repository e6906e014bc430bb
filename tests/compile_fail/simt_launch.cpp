// expect: a kernel's stack_bytes must be between 64 KiB, what every thread has, and 16 MiB
// expect: launch(grid, kernel) takes the block size that the kernel declares: give it a static constexpr Dim3 block, or launch a LaunchConfig with a block
// expect: a kernel's warp is 32 lanes, or 64 as on AMD's CDNA GPUs
// expect: a kernel's cluster has 1 to 8 blocks
// expect: launch passes views to the kernel: give it A.view() instead of A
// expect: launch calls kernel(t, args...): a kernel is void operator()(auto t, auto... args) const, with a parameter for each argument that follows it in the call
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/host_tensor.hpp"

using namespace tessera;

struct SmallStack {
  static constexpr std::size_t stack_bytes = 4096;
  void operator()(auto) const {}
};
struct HugeStack {
  static constexpr std::size_t stack_bytes = 64 << 20;
  void operator()(auto) const {}
};
struct HalfWarp {
  static constexpr int warp = 16;
  void operator()(auto) const {}
};
struct Crowd {
  static constexpr Dim3 cluster{3, 3};
  void operator()(auto) const {}
};
struct NoBlock {
  void operator()(auto) const {}
};

struct NotConst {
  void operator()(auto, auto) {}
};
struct OneArgument {
  void operator()(auto, auto) const {}
};

void use(const HostTensor<float>& A) {
  launch(LaunchConfig{.block = {32}}, SmallStack{});  // refused
  launch(LaunchConfig{.block = {32}}, HugeStack{});   // refused
  launch(LaunchConfig{.block = {32}}, HalfWarp{});    // refused
  launch(LaunchConfig{.block = {32}}, Crowd{});       // refused
  launch(Dim3{2}, NoBlock{});                         // refused
  launch(LaunchConfig{}, OneArgument{}, A);           // refused
  launch(LaunchConfig{}, NotConst{}, 1);              // refused
  launch(LaunchConfig{}, OneArgument{}, 1, 2);        // refused
}
