// AVX512_VNNI: vpdpbusd multiplies four u8 by four i8 and adds the products to an i32, exactly
// (modulo 2^32). A is read as it lies. The signs of B are flipped while it is packed, so that one
// is unsigned and one signed, and each row of A adds what that changed:
//   i8: sum a b = sum a (b + 128) - 128 sum a,    u8: sum a b = sum a (b - 128) + 128 sum a.
// Where one of A and B is unsigned and the other signed, nothing is flipped.
#if defined(__x86_64__)
#include "scheduled_tile_avx512.hpp"
#include "vector_avx512.hpp"

namespace tessera::cpu {

namespace {

/// B, its signs flipped.
template <class Source>
struct Flipped : AsTheyLie<Source> {
  using Base = AsTheyLie<Source>;
  static constexpr bool maps = true;
  static constexpr std::uint32_t signs = 0x80808080u;
  static std::uint32_t word(const Source (&part)[4]) { return Base::word(part) ^ signs; }
  static __m512i mapped(__m512i words) {
    return _mm512_xor_si512(words, _mm512_set1_epi32(static_cast<int>(signs)));
  }
  static __m512i rows(const Source* p, index_t s_k) { return mapped(Base::rows(p, s_k)); }
  static __m512i rows_part(const Source* p, index_t s_k, __mmask16 lines, int count) {
    return mapped(Base::rows_part(p, s_k, lines, count));
  }
};

/// Bytes along a line in memory, for sums in any order.
template <class G>
struct Lines : Gathered<Words<I32>, G> {
  using Source = typename G::source;
  static __m512i line(const Source* p) { return mapped(_mm512_loadu_si512(p)); }
  static __m512i line_part(const Source* p, int count) {
    return mapped(_mm512_maskz_loadu_epi8((__mmask64{1} << count) - 1, p));
  }
  static __m512i first_of(std::int32_t x) { return _mm512_zextsi128_si512(_mm_cvtsi32_si128(x)); }
  static std::int32_t total(__m512i sums) {
    const __m256i half =
        _mm256_add_epi32(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
    __m128i part = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    part = _mm_add_epi32(part, _mm_shuffle_epi32(part, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(part, _mm_shuffle_epi32(part, 0xB1)));
  }

 private:
  static __m512i mapped(__m512i bytes) {
    if constexpr (G::maps) return G::mapped(bytes);
    else return bytes;
  }
};

template <class Source>
struct Quads : Lines<Flipped<Source>> {
  using operand = __m512i;
  using type = __m512i;
  static constexpr bool shifts = true, signed_a = std::is_same_v<Source, std::int8_t>;
  static type step(operand x, operand row, type acc) {
    return signed_a ? _mm512_dpbusd_epi32(acc, row, x) : _mm512_dpbusd_epi32(acc, x, row);
  }
  /// Sums of the elements of A in words.
  static type count(operand words, type sums) {
    const operand ones = _mm512_set1_epi8(1);
    return signed_a ? _mm512_dpbusd_epi32(sums, ones, words)
                    : _mm512_dpbusd_epi32(sums, words, ones);
  }
  static constexpr int weight = signed_a ? -128 : 128;
};

template <class V>
typename V::type weighed(const typename V::type (&sums)[4]) {
  return V::mul(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])), V::splat(V::weight));
}

/// See Kernels::sum_rows.
template <class V>
void sum_rows(std::int32_t* out, const std::uint32_t* a, index_t rows, index_t words,
              index_t a_row) {
  for (index_t i = 0; i < rows; ++i, a += a_row) {
    typename V::type sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
    index_t w = 0;
    for (; w + 4 * V::lanes <= words; w += 4 * V::lanes) {
      TESSERA_UNROLL
      for (int n = 0; n < 4; ++n) sums[n] = V::count(V::fetch(a + w + n * V::lanes), sums[n]);
    }
    for (; w < words; w += V::lanes) {
      const int left = static_cast<int>(words - w < V::lanes ? words - w : V::lanes);
      sums[0] = V::count(V::fetch_first(a + w, V::first(left)), sums[0]);
    }
    out[i] = _mm512_reduce_add_epi32(weighed<V>(sums));
  }
}

/// See Pack; each panel ends with the same sums.
template <class V>
void pack_a(std::uint32_t* dst, int width, const typename V::source* src, index_t lines, index_t K,
            index_t s_line, index_t s_k) {
  const index_t words = (K + V::group - 1) / V::group;
  pack_groups<V, AsTheyLie<typename V::source>, 1>(dst, width, src, lines, K, s_line, s_k);
  for (index_t line = 0; line < lines; line += width, dst += width * (words + 1)) {
    for (int i = 0; i < width; i += V::lanes) {
      const auto mask = V::first(width - i < V::lanes ? width - i : V::lanes);
      typename V::type sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
      for (index_t w = 0; w < words; w += 4) {
        TESSERA_UNROLL
        for (int n = 0; n < 4; ++n) {
          if (w + n < words)
            sums[n] = V::count(V::fetch_first(dst + (w + n) * width + i, mask), sums[n]);
        }
      }
      V::store_first(reinterpret_cast<std::int32_t*>(dst + width * words + i), mask,
                     weighed<V>(sums));
    }
  }
}

template <class Source>
constexpr auto quads_kernels() {
  using V = Quads<Source>;
  auto out = with_scheduled_tile<V>(
      make_kernels<V, 8, 3, Source>("avx512 vnni", pack_a<V>, pack_groups<V, Flipped<Source>>));
  out.a_extra = 1;
  out.sum_rows = sum_rows<V>;
  return out;
}

/// A and B as they lie.
template <bool SignedA>
struct MixedQuads : Lines<AsTheyLie<std::uint8_t>> {
  static constexpr bool signed_a = SignedA;
  static type step(operand x, operand row, type acc) {
    return SignedA ? _mm512_dpbusd_epi32(acc, row, x) : _mm512_dpbusd_epi32(acc, x, row);
  }
};

template <bool SignedA>
constexpr KernelsBytes mixed_kernels() {
  using V = MixedQuads<SignedA>;
  constexpr auto pack = pack_groups<V, AsTheyLie<std::uint8_t>>;
  return with_scheduled_tile<V>(make_kernels<V, 8, 3, std::uint8_t>("avx512 vnni", pack, pack));
}

}  // namespace

constexpr KernelsBytes kAvx512VnniU8I8 = mixed_kernels<false>();
constexpr KernelsBytes kAvx512VnniI8U8 = mixed_kernels<true>();
constexpr KernelsI8 kAvx512VnniI8 = quads_kernels<std::int8_t>();
constexpr KernelsU8 kAvx512VnniU8 = quads_kernels<std::uint8_t>();

}  // namespace tessera::cpu
#endif
