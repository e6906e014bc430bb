// The launches of the ladder's kernels on devices whose code Clang makes; see ladder.hpp.
#include "ladder.hpp"

#include <algorithm>
#include <typeinfo>

#if defined(TESSERA_HAS_GPU_CODE)
#include "gpu_kernels.hpp"  // made by CMake: the headers of all kernels
#endif

namespace tessera::detail {

#if defined(TESSERA_HAS_GPU_CODE)

// What kernel.cpp.in has become, embedded by tessera-gpu-code.
#define TESSERA_LADDER(name, ...) \
  extern const GpuModule gpu_code_of_##name, gpu_code_of_##name##_f64;
#define TESSERA_LADDER_UNITS(name, ...)
#define TESSERA_LADDER_BULK(name, ...)
#define TESSERA_LADDER_HOST(name)
#include "matmul/ladder.inc"

namespace {

template <template <TileShape> class Kernel, class Tiles, const GpuModule& Code,
          const GpuModule& DoubleCode>
struct GpuLaunches {
  static void run(const GpuCall& call) {
    add_gpu_module(Code);
    add_gpu_module(DoubleCode);
    GpuLadder<Kernel, Tiles>::visit(
        call.tile, call.problem.in, call.problem.out,
        [&]<class K, class In, class Out>() { start<K, In, Out>(call); });
  }
  static GpuNeeds needs(const TileShape& tile, DType in, DType out) {
    GpuNeeds needed{};
    GpuLadder<Kernel, Tiles>::visit(tile, in, out, [&]<class K, class In, class Out>() {
      needed = {static_cast<int>(volume(K::block)), bytes_of<K, In>()};
    });
    return needed;
  }

 private:
  template <class In>
  struct WithElement {
    using element = In;
  };
  template <class K, class In>
  static constexpr std::size_t bytes_of() {
    return SharedOf<K, WithElement<In>>::bytes;
  }
  template <class K, class In, class Out>
  static void start(const GpuCall& call) {
    using Params = GpuParams<In, Out>;
    const GpuProduct<K, In, Out> kernel{};
    const GpuKernel gpu{typeid(typename Params::template Entry<K>*).name(),
                        static_cast<int>(sizeof kernel),
                        bytes_of<K, In>(),
                        Params::list,
                        "",
                        ""};
    const TensorArgument a{call.A}, b{call.B}, c{call.C}, bias{call.bias};
    const void* const arguments[] = {&a, &b, &c, &bias, &call.problem};
    start_kernel(start_compiled, {call.device, K::grid(call.problem.M, call.problem.N), K::block,
                                  K::name, &kernel, arguments, nullptr, &gpu});
  }
};

}  // namespace

std::span<const GpuLadderEntry> gpu_ladder() {
  static const GpuLadderEntry entries[] = {
#define TESSERA_LADDER(name, Kernel, Tiles, ...)                                         \
  {#name, GpuLaunches<Kernel, Tiles, gpu_code_of_##name, gpu_code_of_##name##_f64>::run, \
   GpuLaunches<Kernel, Tiles, gpu_code_of_##name, gpu_code_of_##name##_f64>::needs,      \
   std::min(kTypedOnCuda, Tiles::typed)},
#define TESSERA_LADDER_UNITS(name, ...)
#define TESSERA_LADDER_BULK(name, ...)
#define TESSERA_LADDER_HOST(name)
#include "matmul/ladder.inc"
  };
  return entries;
}

#else

std::span<const GpuLadderEntry> gpu_ladder() { return {}; }

#endif

const GpuLadderEntry* find_gpu_entry(std::string_view name) {
  for (const auto& entry : gpu_ladder())
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace tessera::detail
