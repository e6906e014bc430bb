// AVX2 + FMA + F16C kernels. Compiled with these instructions, called only where the CPU has them.
#if defined(__x86_64__)
#include "cpu/transpose_x86.hpp"
#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

/// The first n of eight 32-bit lanes (or of four pairs of them, n even).
inline __m256i lanes_below(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

struct F32 : LanesX86<float, 32> {
  static type splat(float x) { return _mm256_set1_ps(x); }
  static __m256i first(int n) { return lanes_below(n); }
  static type load_first(const float* p, __m256i m) {
    return _mm256_blendv_ps(broadcast(p), _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m));
  }
  static type broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  static type fma(type a, type b, type c) { return _mm256_fmadd_ps(a, b, c); }
  static type fms(type a, type b, type c) { return _mm256_fmsub_ps(a, b, c); }
  static type fma_first(__m256i m, const float* p, const float* q, type acc) {
    const type sum = fma(_mm256_maskload_ps(p, m), _mm256_maskload_ps(q, m), acc);
    return _mm256_blendv_ps(acc, sum, _mm256_castsi256_ps(m));
  }
  template <int W>
  static type folded(type u, type v) {
    constexpr int upper = W == 4 ? 0xF0 : W == 2 ? 0xCC : 0xAA;
    const type same = _mm256_blend_ps(u, v, upper);
    if constexpr (W == 4) return add(same, _mm256_permute2f128_ps(u, v, 0x21));
    if constexpr (W == 2) {
      const __m256d a = _mm256_castps_pd(u), b = _mm256_castps_pd(v);
      return add(same, _mm256_castpd_ps(_mm256_shuffle_pd(a, b, 0x5)));
    }
    return add(same, _mm256_permute_ps(_mm256_blend_ps(v, u, upper), 0xB1));
  }
  static type exchanged(type x) { return _mm256_permute_ps(x, 0xB1); }
  static void store_first(float* p, __m256i m, type x) { _mm256_maskstore_ps(p, m, x); }
  static void stream(float* p, type x) { _mm256_stream_ps(p, x); }
};

struct F64 : LanesX86<double, 32> {
  static type splat(double x) { return _mm256_set1_pd(x); }
  static __m256i first(int n) { return lanes_below(2 * n); }
  static type load_first(const double* p, __m256i m) {
    return _mm256_blendv_pd(broadcast(p), _mm256_maskload_pd(p, m), _mm256_castsi256_pd(m));
  }
  static type broadcast(const double* p) { return _mm256_broadcast_sd(p); }
  static type fma(type a, type b, type c) { return _mm256_fmadd_pd(a, b, c); }
  static type fms(type a, type b, type c) { return _mm256_fmsub_pd(a, b, c); }
  static type fma_first(__m256i m, const double* p, const double* q, type acc) {
    const type sum = fma(_mm256_maskload_pd(p, m), _mm256_maskload_pd(q, m), acc);
    return _mm256_blendv_pd(acc, sum, _mm256_castsi256_pd(m));
  }
  template <int W>
  static type folded(type u, type v) {
    if constexpr (W == 2)
      return add(_mm256_blend_pd(u, v, 0xC), _mm256_permute2f128_pd(u, v, 0x21));
    return add(_mm256_blend_pd(u, v, 0xA), _mm256_shuffle_pd(u, v, 0x5));
  }
  static type exchanged(type x) { return _mm256_permute_pd(x, 0x5); }
  static void store_first(double* p, __m256i m, type x) { _mm256_maskstore_pd(p, m, x); }
  static void stream(double* p, type x) { _mm256_stream_pd(p, x); }
};

struct ConvertF16 : PortableConvert<F32, HalfBits> {
  static constexpr bool in_vectors = true;
  static __m256 load(const HalfBits* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static void store(HalfBits* p, __m256 x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

struct ConvertBf16 : PortableConvert<F32, BrainBits> {
  static constexpr bool in_vectors = true;
  static __m256 load(const BrainBits* p) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  /// As narrow_one.
  static void store(BrainBits* p, __m256 x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
    const __m256i nan =
        _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(static_cast<int>(0x80000000u))),
                        _mm256_set1_epi32(0x7FC00000));
    const __m256i unordered = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, nan, unordered), 16);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
  }
};

/// Pairs of i16, added into i32: vpmaddwd.
struct Pairs {
  using sum = std::int32_t;
  using k_group = std::uint32_t;
  using type = __m256i;
  using operand = __m256i;
  static constexpr int lanes = 8, group = 2;
  static type zero() { return _mm256_setzero_si256(); }
  static type splat(sum x) { return _mm256_set1_epi32(x); }
  static __m256i first(int n) { return lanes_below(n); }
  static type load(const sum* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static type load_first(const sum* p, __m256i m) { return _mm256_maskload_epi32(p, m); }
  static operand load_operand(const k_group* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static operand load_operand_first(const k_group* p, __m256i m) {
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(p), m);
  }
  static operand broadcast(const k_group* p) { return _mm256_set1_epi32(static_cast<int>(*p)); }
  static type step(operand x, operand row, type acc) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, row));
  }
  static type add(type a, type b) { return _mm256_add_epi32(a, b); }
  static type mul(type a, type b) { return _mm256_mullo_epi32(a, b); }
  static type fma(type a, type b, type c) { return add(mul(a, b), c); }
  static void store(sum* p, type x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
  static void store_first(sum* p, __m256i m, type x) { _mm256_maskstore_epi32(p, m, x); }
  static void stream(sum* p, type x) { _mm256_stream_si256(reinterpret_cast<__m256i*>(p), x); }
};

struct Set {
  using F32 = Plain<cpu::F32>;
  using F64 = Plain<cpu::F64>;
  using Pairs = cpu::Pairs;
  using Half = ConvertF16;
  using Brain = ConvertBf16;
  static constexpr int rows = 6, vectors = 2, pairs_rows = 6, pairs_vectors = 2;
  static constexpr const char* pairs_isa = "avx2";
};

}  // namespace

constexpr KernelSet kAvx2 = make_plain_kernel_set<Set>("avx2");

}  // namespace tessera::cpu
#endif
