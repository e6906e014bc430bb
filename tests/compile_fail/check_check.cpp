// expect: check() sees accesses only in files compiled with TESSERA_CHECK=1
// expect: check passes views to the kernel: give it A.view() instead of A
// expect: check(options, grid, kernel) takes the block size that the kernel declares: give it a static constexpr Dim3 block, or a LaunchConfig with a block
// expect: check sees what a kernel does to tensors, and nothing of a raw pointer: pass tensor<row_major(dynamic)>(pointer, count) instead
#include "tessera/check/check.hpp"

#include "tessera/tensor/host_tensor.hpp"

using namespace tessera;

struct NoBlock {
  void operator()(auto) const {}
};
struct OneArgument {
  static constexpr Dim3 block{32};
  void operator()(auto, auto) const {}
};

void use(const HostTensor<float>& A) {
  check::check({}, LaunchConfig{.grid = {1}, .block = {32}}, NoBlock{});  // refused
  check::check({}, Dim3{1}, NoBlock{});                                   // refused
  check::check({}, Dim3{1}, OneArgument{}, A);                            // refused
  check::check({}, Dim3{1}, OneArgument{}, A.data());                     // refused
}
