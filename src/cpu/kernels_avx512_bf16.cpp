// AVX512_BF16: vdpbf16ps multiplies pairs of bf16 and adds both products to an f32. It rounds and
// flushes subnormals as Intel SDM vol. 2, VDPBF16PS, says: not the bits of a chain of fused
// multiply-adds.
#if defined(__x86_64__)
#include "vector_avx512.hpp"

namespace tessera::cpu {

namespace {

struct Pairs : Words<F32> {
  static constexpr int group = 2, extra = 0;
  static type step(operand x, operand row, type acc) {
    return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(row));
  }
};

struct Pack2 {
  using source = BrainBits;
  static constexpr bool as_it_lies = true, rows_together = true;
  static std::uint32_t word(const BrainBits (&part)[2]) {
    return part[0].bits | static_cast<std::uint32_t>(part[1].bits) << 16;
  }
  static __m512i mapped(__m512i words) { return words; }
  static __m512i rows(const BrainBits* p, index_t s_k) {
    const auto row = [](const BrainBits* from) {
      return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    };
    return _mm512_or_si512(row(p), _mm512_slli_epi32(row(p + s_k), 16));
  }
};

}  // namespace

constexpr KernelsBf16Pairs kAvx512Bf16 = make_kernels<Pairs, 8, 3, BrainBits>(
    "avx512 bf16", pack_groups<Pairs, Pack2>, pack_groups<Pairs, Pack2>, narrow<F32, ConvertBf16>);

}  // namespace tessera::cpu
#endif
