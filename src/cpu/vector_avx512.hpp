// AVX-512 vectors of f32, f64 and i32. Each file that includes this is compiled with AVX-512 and
// gets its own copy; it includes no library header with inline functions, whose code would be
// shared.
#pragma once

#include "make_kernels.hpp"
#include "transpose_x86.hpp"
#include "vector_portable.hpp"

namespace tessera::cpu {

namespace {

struct F32 : LanesX86<float, 64> {
  static type splat(float x) { return _mm512_set1_ps(x); }
  static __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1); }
  static type load_first(const float* p, __mmask16 m) {
    return fill(m, _mm512_maskz_loadu_ps(m, p));
  }
  static type fill(__mmask16 m, type x) {
    const __m512i all = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_ps(_mm512_maskz_mov_epi32(m, all), x);
  }
  static type fma(type a, type b, type c) { return _mm512_fmadd_ps(a, b, c); }
  static type fms(type a, type b, type c) { return _mm512_fmsub_ps(a, b, c); }
  static type load_part(const float* p, __mmask16 m) { return _mm512_maskz_loadu_ps(m, p); }
  static type fma_part(__mmask16 m, type a, type b, type c) {
    return _mm512_mask3_fmadd_ps(a, b, c, m);
  }
  static type fma_first(__mmask16 m, const float* p, const float* q, type acc) {
    return fma_part(m, load_part(p, m), load_part(q, m), acc);
  }
  template <int W>
  static type folded(type u, type v) {
    constexpr int upper = W == 8 ? 0xFF00 : W == 4 ? 0xF0F0 : W == 2 ? 0xCCCC : 0xAAAA;
    const type same = _mm512_mask_blend_ps(static_cast<__mmask16>(upper), u, v);
    if constexpr (W == 8) return add(same, _mm512_shuffle_f32x4(u, v, 0x4E));
    if constexpr (W == 2) {
      const __m512d a = _mm512_castps_pd(u), b = _mm512_castps_pd(v);
      return add(same, _mm512_castpd_ps(_mm512_shuffle_pd(a, b, 0x55)));
    }
    const __m512i others =
        W == 4 ? _mm512_setr_epi32(4, 5, 6, 7, 16, 17, 18, 19, 12, 13, 14, 15, 24, 25, 26, 27)
               : _mm512_setr_epi32(1, 16, 3, 18, 5, 20, 7, 22, 9, 24, 11, 26, 13, 28, 15, 30);
    return add(same, _mm512_permutex2var_ps(u, others, v));
  }
  static type exchanged(type x) { return _mm512_permute_ps(x, 0xB1); }
  static void store_first(float* p, __mmask16 m, type x) { _mm512_mask_storeu_ps(p, m, x); }
  static void stream(float* p, type x) { _mm512_stream_ps(p, x); }
  static type halves(const float* lower, const float* upper) {
    return _mm512_mask_broadcastss_ps(splat(*lower), 0xFF00, _mm_load_ss(upper));
  }
  static void transpose_registers(const type (&pairs)[8], type (&column)[8]) {
    // v[k]: in quarter q, column k + 4 (q % 2) of lines 0 to 3, from q = 2 on of 4 to 7;
    // v[4 + k]: of lines 8 to 11, from q = 2 on of 12 to 15.
    type v[8];
    TESSERA_UNROLL
    for (int i = 0; i < 8; i += 4) {
      const type a = pairs[i], b = pairs[i + 1], c = pairs[i + 2], d = pairs[i + 3];
      const __m512d ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
      const __m512d cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
      const __m512d ab2 = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
      const __m512d cd2 = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
      v[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
      v[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
      v[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab2, cd2));
      v[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab2, cd2));
    }
    TESSERA_UNROLL
    for (int k = 0; k < 4; ++k) {
      column[k] = _mm512_shuffle_f32x4(v[k], v[4 + k], 0x88);
      column[4 + k] = _mm512_shuffle_f32x4(v[k], v[4 + k], 0xDD);
    }
  }
  static type both(const void* p, const void* q) {
    const auto load = [](const void* from) {
      return _mm256_loadu_ps(static_cast<const float*>(from));
    };
    return _mm512_insertf32x8(_mm512_castps256_ps512(load(p)), load(q), 1);
  }
};

struct F64 : LanesX86<double, 64> {
  static type splat(double x) { return _mm512_set1_pd(x); }
  static __mmask8 first(int n) { return static_cast<__mmask8>((1u << n) - 1); }
  static type load_first(const double* p, __mmask8 m) {
    return fill(m, _mm512_maskz_loadu_pd(m, p));
  }
  static type fill(__mmask8 m, type x) {
    const __m512i all = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_pd(_mm512_maskz_mov_epi64(m, all), x);
  }
  static type fma(type a, type b, type c) { return _mm512_fmadd_pd(a, b, c); }
  static type fms(type a, type b, type c) { return _mm512_fmsub_pd(a, b, c); }
  static type load_part(const double* p, __mmask8 m) { return _mm512_maskz_loadu_pd(m, p); }
  static type fma_part(__mmask8 m, type a, type b, type c) {
    return _mm512_mask3_fmadd_pd(a, b, c, m);
  }
  static type fma_first(__mmask8 m, const double* p, const double* q, type acc) {
    return fma_part(m, load_part(p, m), load_part(q, m), acc);
  }
  template <int W>
  static type folded(type u, type v) {
    constexpr int upper = W == 4 ? 0xF0 : W == 2 ? 0xCC : 0xAA;
    const type same = _mm512_mask_blend_pd(static_cast<__mmask8>(upper), u, v);
    if constexpr (W == 4) return add(same, _mm512_shuffle_f64x2(u, v, 0x4E));
    if constexpr (W == 1) return add(same, _mm512_shuffle_pd(u, v, 0x55));
    const __m512i others = _mm512_setr_epi64(2, 3, 8, 9, 6, 7, 12, 13);
    return add(same, _mm512_permutex2var_pd(u, others, v));
  }
  static type exchanged(type x) { return _mm512_permute_pd(x, 0x55); }
  static void store_first(double* p, __mmask8 m, type x) { _mm512_mask_storeu_pd(p, m, x); }
  static void stream(double* p, type x) { _mm512_stream_pd(p, x); }
  static type halves(const double* lower, const double* upper) {
    return _mm512_mask_broadcastsd_pd(splat(*lower), 0xF0, _mm_load_sd(upper));
  }
  static void transpose_registers(const type (&pairs)[4], type (&column)[4]) {
    // v[k]: in quarter q, column k + 2 (q % 2) of lines 0 and 1, from q = 2 on of 2 and 3;
    // v[2 + k]: of lines 4 and 5, from q = 2 on of 6 and 7.
    type v[4];
    TESSERA_UNROLL
    for (int i = 0; i < 4; i += 2) {
      v[i] = _mm512_unpacklo_pd(pairs[i], pairs[i + 1]);
      v[i + 1] = _mm512_unpackhi_pd(pairs[i], pairs[i + 1]);
    }
    TESSERA_UNROLL
    for (int k = 0; k < 2; ++k) {
      column[k] = _mm512_shuffle_f64x2(v[k], v[2 + k], 0x88);
      column[2 + k] = _mm512_shuffle_f64x2(v[k], v[2 + k], 0xDD);
    }
  }
  static type both(const void* p, const void* q) {
    const auto load = [](const void* from) {
      return _mm256_loadu_pd(static_cast<const double*>(from));
    };
    return _mm512_insertf64x4(_mm512_castpd256_pd512(load(p)), load(q), 1);
  }
};

/// Eight elements of 16 bits from each.
inline __m256i both_halves(const void* p, const void* q) {
  return _mm256_loadu2_m128i(static_cast<const __m128i*>(q), static_cast<const __m128i*>(p));
}

struct ConvertF16 : PortableConvert<F32, HalfBits> {
  static constexpr bool in_vectors = true;
  static __m512 load(const HalfBits* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static void store(HalfBits* p, __m512 x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static __m512 both(const void* p, const void* q) { return _mm512_cvtph_ps(both_halves(p, q)); }
};

struct ConvertBf16 : PortableConvert<F32, BrainBits> {
  static constexpr bool in_vectors = true;
  static __m512 widened(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  static __m512 load(const BrainBits* p) {
    return widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static __m512 both(const void* p, const void* q) { return widened(both_halves(p, q)); }
  /// As narrow_one.
  static void store(BrainBits* p, __m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
    const __m512i nan =
        _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0x80000000u))),
                        _mm512_set1_epi32(0x7FC00000));
    const __m512i chosen =
        _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16)));
  }
};

/// Sums of products of integers; what the K-groups are is up to the derived types.
struct I32 {
  using sum = std::int32_t;
  using type = __m512i;
  static constexpr int lanes = 16, transposed = 8;
  static type zero() { return _mm512_setzero_si512(); }
  static type splat(sum x) { return _mm512_set1_epi32(x); }
  static __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1); }
  static type load(const sum* p) { return _mm512_loadu_si512(p); }
  static type load_first(const sum* p, __mmask16 m) { return _mm512_maskz_loadu_epi32(m, p); }
  static type add(type a, type b) { return _mm512_add_epi32(a, b); }
  static type mul(type a, type b) { return _mm512_mullo_epi32(a, b); }
  static type fma(type a, type b, type c) { return add(mul(a, b), c); }
  static void store(sum* p, type x) { _mm512_storeu_si512(p, x); }
  static void store_first(sum* p, __mmask16 m, type x) { _mm512_mask_storeu_epi32(p, m, x); }
  static void stream(sum* p, type x) { _mm512_stream_si512(reinterpret_cast<__m512i*>(p), x); }
};

/// K-groups of 32 bits that hold several elements.
template <class Base>
struct KGroups : Base {
  using k_group = std::uint32_t;
  using operand = __m512i;
  static operand load_operand(const k_group* p) { return _mm512_loadu_si512(p); }
  static operand load_operand_first(const k_group* p, __mmask16 m) {
    return _mm512_maskz_loadu_epi32(m, p);
  }
  static operand broadcast(const k_group* p) {  // of an unpacked A, at any address
    std::int32_t x;
    __builtin_memcpy(&x, p, sizeof x);
    return _mm512_set1_epi32(x);
  }
  static void keep(k_group* p, operand x) { _mm512_storeu_si512(p, x); }
  static void keep_first(k_group* p, __mmask16 m, operand x) { _mm512_mask_storeu_epi32(p, m, x); }
  static void keep_lower(k_group* p, operand x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_castsi512_si256(x));
  }
  static void keep_upper(k_group* p, operand x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_extracti64x4_epi64(x, 1));
  }
  static void transpose(k_group* dst, index_t width, const void* src, index_t line) {
    transpose_8x8(dst, width, src, line);
  }
  static operand halves(const k_group* lower, const k_group* upper) {
    const __m128i other = _mm_cvtsi32_si128(static_cast<int>(*upper));
    return _mm512_mask_broadcastd_epi32(broadcast(lower), 0xFF00, other);
  }
  static __m512 both(const void* p, const void* q) { return F32::both(p, q); }
  static void transpose_registers(const __m512 (&pairs)[8], operand (&column)[8]) {
    __m512 transposed[8];
    F32::transpose_registers(pairs, transposed);
    TESSERA_UNROLL
    for (int i = 0; i < 8; ++i) column[i] = _mm512_castps_si512(transposed[i]);
  }
};

/// K-groups of two f16 or bf16, or of four bytes, unpacked in memory: see pack_groups.
template <class Source>
struct Unconverted {
  using source = Source;
  static constexpr bool unconverted = true, maps = false, rows_together = true;
  static constexpr int group = 4 / sizeof(Source);
  static std::uint32_t k_group(const Source (&part)[group]) {
    return __builtin_bit_cast(std::uint32_t, part);
  }
  static __m512i rows(const Source* p, index_t s_k) {
    const auto row = [&](int g) { return static_cast<const void*>(p + g * s_k); };
    if constexpr (group == 2) {
      return zipped(_mm256_loadu_si256(static_cast<const __m256i*>(row(0))),
                    _mm256_loadu_si256(static_cast<const __m256i*>(row(1))));
    } else {
      const auto load = [&](int g) { return _mm_loadu_si128(static_cast<const __m128i*>(row(g))); };
      return zipped(load(0), load(1), load(2), load(3));
    }
  }
  static __m512i rows_part(const Source* p, index_t s_k, __mmask16 lines, int count) {
    if constexpr (group == 2) {
      const auto load = [&](int g) {
        return g < count ? _mm256_maskz_loadu_epi16(lines, p + g * s_k) : _mm256_setzero_si256();
      };
      return zipped(load(0), load(1));
    } else {
      const auto load = [&](int g) {
        return g < count ? _mm_maskz_loadu_epi8(lines, p + g * s_k) : _mm_setzero_si128();
      };
      return zipped(load(0), load(1), load(2), load(3));
    }
  }

 private:
  /// One element of each row after another.
  static __m512i zipped(__m256i a, __m256i b) {
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1));
  }
  static __m512i zipped(__m128i a, __m128i b, __m128i c, __m128i d) {
    const __m512i rows = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1)),
        _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1), 1);
    const __m512i fours = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(fours, rows), bytes);
  }
};

/// K-groups that G makes of elements unpacked in memory.
template <class Base, class G>
struct Gathered : Base {
  using packs = G;
  using source = typename G::source;
  using operand = typename Base::operand;
  static constexpr int group = G::group;
  static operand gather(const source* p, index_t s_k) { return G::rows(p, s_k); }
  static operand gather_first(const source* p, index_t s_k, __mmask16 m, int count) {
    return G::rows_part(p, s_k, m, count);
  }
  static void transpose_registers(const __m512 (&pairs)[8], operand (&column)[8]) {
    Base::transpose_registers(pairs, column);
    if constexpr (G::maps) {
      TESSERA_UNROLL
      for (int i = 0; i < 8; ++i) column[i] = G::mapped(column[i]);
    }
  }
};

}  // namespace

}  // namespace tessera::cpu
