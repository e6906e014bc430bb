// AVX512_VNNI: vpdpbusd multiplies four u8 by four i8 and adds the products to an i32, exactly
// (modulo 2^32). A is read unpacked. Packing B flips its signs, so that one operand is unsigned and
// one signed, and a correction is added for each row of A:
//   i8: sum a b = sum a (b + 128) - 128 sum a,    u8: sum a b = sum a (b - 128) + 128 sum a.
// Where one of A and B is unsigned and the other signed, nothing is flipped.
#if defined(__x86_64__)
#include "cpu/scheduled_tile_avx512.hpp"
#include "cpu/vector_avx512.hpp"

namespace tessera::cpu {

namespace {

/// B, its signs flipped.
template <class Source>
struct Flipped : Unconverted<Source> {
  using Base = Unconverted<Source>;
  static constexpr bool maps = true;
  static constexpr std::uint32_t signs = 0x80808080u;
  static std::uint32_t k_group(const Source (&part)[4]) { return Base::k_group(part) ^ signs; }
  static __m512i mapped(__m512i k_groups) {
    return _mm512_xor_si512(k_groups, _mm512_set1_epi32(static_cast<int>(signs)));
  }
  static __m512i rows(const Source* p, index_t s_k) { return mapped(Base::rows(p, s_k)); }
  static __m512i rows_part(const Source* p, index_t s_k, __mmask16 lines, int count) {
    return mapped(Base::rows_part(p, s_k, lines, count));
  }
};

/// The sums of all lanes of each of four vectors, side by side.
inline __m128i totals(const __m512i (&x)[4]) {
  const auto pairs = [](__m512i a, __m512i b) {
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  };
  const __m512i first = pairs(x[0], x[1]), second = pairs(x[2], x[3]);
  const __m512i all =
      _mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/// Contiguous bytes, for sums in any order.
template <class G>
struct Lines : Gathered<KGroups<I32>, G> {
  using Source = typename G::source;
  static __m512i line(const Source* p) { return mapped(_mm512_loadu_si512(p)); }
  static __m512i line_part(const Source* p, int count) {
    return mapped(_mm512_maskz_loadu_epi8((__mmask64{1} << count) - 1, p));
  }
  static void store_totals(std::int32_t* c, const __m512i (&sums)[4], index_t count,
                           const std::int32_t* shift) {
    __m128i all = totals(sums);
    if (shift != nullptr) all = _mm_add_epi32(all, _mm_set1_epi32(*shift));
    _mm_mask_storeu_epi32(c, static_cast<__mmask8>((1 << count) - 1), all);
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
  /// Sums of the elements of A in K-groups.
  static type count(operand k_groups, type sums) {
    const operand ones = _mm512_set1_epi8(1);
    return signed_a ? _mm512_dpbusd_epi32(sums, ones, k_groups)
                    : _mm512_dpbusd_epi32(sums, k_groups, ones);
  }
  static constexpr int weight = signed_a ? -128 : 128;
};

/// See Kernels::sum_rows. Four rows at a time; the last row is repeated for missing ones.
template <class V>
void sum_rows(std::int32_t* out, const std::uint32_t* a, index_t rows, index_t k_groups,
              index_t a_row) {
  for (index_t i = 0; i < rows; i += 4) {
    const index_t here = lesser(4, rows - i);
    const std::uint32_t* row[4];
    TESSERA_UNROLL
    for (int r = 0; r < 4; ++r) row[r] = a + (i + lesser(r, here - 1)) * a_row;
    typename V::type sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
    index_t w = 0;
    for (; w + V::lanes <= k_groups; w += V::lanes) {
      TESSERA_UNROLL
      for (int r = 0; r < 4; ++r) sums[r] = V::count(V::load_operand(row[r] + w), sums[r]);
    }
    const auto rest = V::first(static_cast<int>(k_groups - w));
    TESSERA_UNROLL
    for (int r = 0; w < k_groups && r < 4; ++r)
      sums[r] = V::count(V::load_operand_first(row[r] + w, rest), sums[r]);
    const __m128i weighed = _mm_mullo_epi32(totals(sums), _mm_set1_epi32(V::weight));
    _mm_mask_storeu_epi32(out + i, static_cast<__mmask8>((1 << here) - 1), weighed);
  }
}

/// See Pack; each panel ends with the same sums.
template <class V>
void pack_a(std::uint32_t* dst, int width, const typename V::source* src, index_t lines, index_t K,
            index_t s_line, index_t s_k) {
  const index_t k_groups = (K + V::group - 1) / V::group;
  pack_groups<V, Unconverted<typename V::source>, 1>(dst, width, src, lines, K, s_line, s_k);
  for (index_t line = 0; line < lines; line += width, dst += width * (k_groups + 1)) {
    for (int i = 0; i < width; i += V::lanes) {
      const auto mask = V::first(width - i < V::lanes ? width - i : V::lanes);
      typename V::type sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
      for (index_t w = 0; w < k_groups; w += 4) {
        TESSERA_UNROLL
        for (int n = 0; n < 4; ++n) {
          if (w + n < k_groups)
            sums[n] = V::count(V::load_operand_first(dst + (w + n) * width + i, mask), sums[n]);
        }
      }
      V::store_first(
          reinterpret_cast<std::int32_t*>(dst + width * k_groups + i), mask,
          V::mul(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])), V::splat(V::weight)));
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

/// A and B unpacked.
template <bool SignedA>
struct MixedQuads : Lines<Unconverted<std::uint8_t>> {
  static constexpr bool signed_a = SignedA;
  static type step(operand x, operand row, type acc) {
    return SignedA ? _mm512_dpbusd_epi32(acc, row, x) : _mm512_dpbusd_epi32(acc, x, row);
  }
};

template <bool SignedA>
constexpr KernelsBytes mixed_kernels() {
  using V = MixedQuads<SignedA>;
  constexpr auto pack = pack_groups<V, Unconverted<std::uint8_t>>;
  return with_scheduled_tile<V>(make_kernels<V, 8, 3, std::uint8_t>("avx512 vnni", pack, pack));
}

}  // namespace

constexpr ByteKernels kAvx512Vnni = {quads_kernels<std::int8_t>(), quads_kernels<std::uint8_t>(),
                                     mixed_kernels<false>(), mixed_kernels<true>()};

}  // namespace tessera::cpu
#endif
