// Which tables of microkernels run: chosen once by vector_path() and cpu_features(). The only file
// that names all the tables; each table is defined in its own kernels/<isa>.cpp, compiled for that
// instruction set.
#include "kernels.hpp"

#include "tessera/core/cpu.hpp"

namespace tessera::cpu {

namespace {

// Which tables this build has: CMakeLists.txt.
#if defined(__x86_64__) && !defined(TESSERA_WITHOUT_AMX)
constexpr bool kHasAmx = true;
#else
constexpr bool kHasAmx = false;
#endif
#if defined(__x86_64__) && !defined(TESSERA_WITHOUT_AVX512_BF16)
constexpr bool kHasBf16 = true;
#else
constexpr bool kHasBf16 = false;
#endif
#if defined(__x86_64__) && !defined(TESSERA_WITHOUT_AVX512_VNNI)
constexpr bool kHasVnni = true;
#else
constexpr bool kHasVnni = false;
#endif

}  // namespace

std::span<const PathKernels> every_kernel_set() {
  static constexpr PathKernels sets[] = {
    {VectorPath::portable, &kPortable},
#if defined(__x86_64__)
#if !defined(TESSERA_WITHOUT_AVX2)
    {VectorPath::avx2, &kAvx2},
#endif
#if !defined(TESSERA_WITHOUT_AVX512)
    {VectorPath::avx512, &kAvx512},
#endif
#elif defined(__aarch64__)
    {VectorPath::neon, &kNeon},
#endif
  };
  return sets;
}

const KernelSet& kernel_set() {
  static const KernelSet& chosen = []() -> const KernelSet& {
    const KernelSet* best = &kPortable;
    for (const auto& each : every_kernel_set()) {
      if (each.path == vector_path()) return *each.set;
      if (each.path < vector_path()) best = each.set;  // TESSERA_THIS_PROCESSOR has not all
    }
    return *best;
  }();
  return chosen;
}

const KernelsF32& tiny_f32_kernels([[maybe_unused]] index_t N) {
  const KernelSet& set = kernel_set();
#if defined(__x86_64__) && !defined(TESSERA_WITHOUT_AVX512) && !defined(TESSERA_ONLY_DEMO)
  if (&set == &kAvx512 && N <= kAvx512Narrow.lanes) return kAvx512Narrow;
#endif
  return set.f32;
}

const ByteKernels& byte_kernels() {
  if constexpr (kHasAmx) {
    if (cpu_features().amx_int8) return kAmxBytes;
  }
  if constexpr (kHasVnni) {
    if (cpu_features().vnni) return kAvx512Vnni;
  }
  return kernel_set();
}

const KernelsBf16Pairs* bf16_pair_kernels() {
  if constexpr (kHasAmx) {
    if (cpu_features().amx_bf16) return &kAmxBf16;
  }
  if constexpr (kHasBf16) {
    if (cpu_features().bf16) return &kAvx512Bf16;
  }
  return nullptr;
}

const KernelsF16Pairs* f16_pair_kernels() {
  if constexpr (kHasAmx) {
    if (cpu_features().amx_fp16) return &kAmxF16;
  }
  return nullptr;
}

}  // namespace tessera::cpu
