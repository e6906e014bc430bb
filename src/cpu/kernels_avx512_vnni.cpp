// AVX512_VNNI: vpdpbusd multiplies four u8 by four i8 and adds the products to an i32, exactly
// (modulo 2^32). It wants A unsigned and B signed: a signed A is shifted up by 128, an unsigned B
// down by 128, and the packed panels end with what the shift changed:
//   sum (a - 128) b = sum a b - 128 sum b,    sum a (b + 128) = sum a b + 128 sum a.
#if defined(__x86_64__)
#include "vector_avx512.hpp"

namespace tessera::cpu {

namespace {

struct Quads : Words<I32> {
  static constexpr int group = 4, extra = 1;
  static type step(operand x, operand row, type acc) { return _mm512_dpbusd_epi32(acc, x, row); }
  static type as_sums(operand x) { return x; }
};

/// How an operand is packed: whether its sign bits are flipped, and 128 times which way its sums
/// count, as A (u8) or as B (i8).
template <class Source, bool Flip, int Weight, bool IsA>
struct Pack4 : AsTheyLie<Source> {
  using Base = AsTheyLie<Source>;
  static constexpr bool maps = Flip;
  static constexpr std::uint32_t flip = Flip ? 0x80808080u : 0u;
  static std::uint32_t word(const Source (&part)[4]) { return Base::word(part) ^ flip; }
  static __m512i mapped(__m512i words) {
    return Flip ? _mm512_xor_si512(words, _mm512_set1_epi32(static_cast<int>(flip))) : words;
  }
  static __m512i rows(const Source* p, index_t s_k) { return mapped(Base::rows(p, s_k)); }
  static __m512i count(__m512i sum, __m512i words) {
    const __m512i ones = _mm512_set1_epi8(1);
    if (Weight == 0) return sum;
    return IsA ? _mm512_dpbusd_epi32(sum, words, ones) : _mm512_dpbusd_epi32(sum, ones, words);
  }
  static __m512i weighed(__m512i sum) {
    return _mm512_mullo_epi32(sum, _mm512_set1_epi32(128 * Weight));
  }
};

}  // namespace

constexpr KernelsI8 kAvx512VnniI8 = make_kernels<Quads, 8, 3, std::int8_t>(
    "avx512 vnni", pack_groups<Quads, Pack4<std::int8_t, true, 0, true>>,
    pack_groups<Quads, Pack4<std::int8_t, false, -1, false>>);
constexpr KernelsU8 kAvx512VnniU8 = make_kernels<Quads, 8, 3, std::uint8_t>(
    "avx512 vnni", pack_groups<Quads, Pack4<std::uint8_t, false, 1, true>>,
    pack_groups<Quads, Pack4<std::uint8_t, true, 0, false>>);

}  // namespace tessera::cpu
#endif
