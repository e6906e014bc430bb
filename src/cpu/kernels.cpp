// Which tables of microkernels run: chosen once by vector_path() and cpu_features(). The only file
// that names all the tables; each table is defined in its own kernels_<isa>.cpp, compiled for that
// instruction set.
#include "kernels.hpp"

#include "tessera/core/cpu.hpp"

namespace tessera::cpu {

const KernelSet& kernel_set() {
  static const KernelSet& chosen = []() -> const KernelSet& {
    switch (vector_path()) {
#if defined(__x86_64__)
      case VectorPath::avx512: return kAvx512;
      case VectorPath::avx2: return kAvx2;
#elif defined(__aarch64__)
      case VectorPath::neon: return kNeon;
#endif
      default: return kPortable;
    }
  }();
  return chosen;
}

const KernelsF32& tiny_f32_kernels([[maybe_unused]] index_t N) {
  const KernelSet& set = kernel_set();
#if defined(__x86_64__)
  if (&set == &kAvx512 && N <= kAvx512Narrow.lanes) return kAvx512Narrow;
#endif
  return set.f32;
}

const KernelsI8& i8_kernels() {
#if defined(__x86_64__)
  if (cpu_features().amx_int8) return kAmxI8;
  if (cpu_features().vnni) return kAvx512VnniI8;
#endif
  return kernel_set().i8;
}

const KernelsU8& u8_kernels() {
#if defined(__x86_64__)
  if (cpu_features().amx_int8) return kAmxU8;
  if (cpu_features().vnni) return kAvx512VnniU8;
#endif
  return kernel_set().u8;
}

const KernelsBytes& u8i8_kernels() {
#if defined(__x86_64__)
  if (cpu_features().amx_int8) return kAmxU8I8;
  if (cpu_features().vnni) return kAvx512VnniU8I8;
#endif
  return kernel_set().u8i8;
}

const KernelsBytes& i8u8_kernels() {
#if defined(__x86_64__)
  if (cpu_features().amx_int8) return kAmxI8U8;
  if (cpu_features().vnni) return kAvx512VnniI8U8;
#endif
  return kernel_set().i8u8;
}

const KernelsBf16Pairs* bf16_pair_kernels() {
#if defined(__x86_64__)
  if (cpu_features().amx_bf16) return &kAmxBf16;
  if (cpu_features().bf16) return &kAvx512Bf16;
#endif
  return nullptr;
}

const KernelsF16Pairs* f16_pair_kernels() {
#if defined(__x86_64__)
  if (cpu_features().amx_fp16) return &kAmxF16;
#endif
  return nullptr;
}

}  // namespace tessera::cpu
