// AVX2 + FMA kernels. Compiled with its instruction set; called only where the CPU has it. Includes
// no library header with inline functions: their code would be shared with the other files.
#include "microkernel.hpp"

#if defined(__x86_64__)
#include "transpose_x86.hpp"

namespace tessera::cpu {

namespace {

/// The first n of eight 32-bit lanes (or of four pairs of them, n even).
inline __m256i lanes_below(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

struct F32 {
  using element = float;
  using type = __m256;
  static constexpr int lanes = 8, transposed = 8;
  static type zero() { return _mm256_setzero_ps(); }
  static type splat(float x) { return _mm256_set1_ps(x); }
  static __m256i first(int n) { return lanes_below(n); }
  static type load(const float* p) { return _mm256_loadu_ps(p); }
  static type load_first(const float* p, __m256i m) { return _mm256_maskload_ps(p, m); }
  static type broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  static type fma(type a, type b, type c) { return _mm256_fmadd_ps(a, b, c); }
  static type mul(type a, type b) { return _mm256_mul_ps(a, b); }
  static type relu(type x, type zero) {
    return _mm256_blendv_ps(x, zero, _mm256_cmp_ps(x, zero, _CMP_LT_OQ));
  }
  static void store(float* p, type x) { _mm256_storeu_ps(p, x); }
  static void store_first(float* p, __m256i m, type x) { _mm256_maskstore_ps(p, m, x); }
  static void stream(float* p, type x) { _mm256_stream_ps(p, x); }
  static void transpose(float* dst, index_t width, const float* src, index_t line) {
    transpose_8x8(dst, width, src, line);
  }
};

struct F64 {
  using element = double;
  using type = __m256d;
  static constexpr int lanes = 4, transposed = 4;
  static type zero() { return _mm256_setzero_pd(); }
  static type splat(double x) { return _mm256_set1_pd(x); }
  static __m256i first(int n) { return lanes_below(2 * n); }
  static type load(const double* p) { return _mm256_loadu_pd(p); }
  static type load_first(const double* p, __m256i m) { return _mm256_maskload_pd(p, m); }
  static type broadcast(const double* p) { return _mm256_broadcast_sd(p); }
  static type fma(type a, type b, type c) { return _mm256_fmadd_pd(a, b, c); }
  static type mul(type a, type b) { return _mm256_mul_pd(a, b); }
  static type relu(type x, type zero) {
    return _mm256_blendv_pd(x, zero, _mm256_cmp_pd(x, zero, _CMP_LT_OQ));
  }
  static void store(double* p, type x) { _mm256_storeu_pd(p, x); }
  static void store_first(double* p, __m256i m, type x) { _mm256_maskstore_pd(p, m, x); }
  static void stream(double* p, type x) { _mm256_stream_pd(p, x); }
  static void transpose(double* dst, index_t width, const double* src, index_t line) {
    transpose_4x4(dst, width, src, line);
  }
};

constexpr Kernels<float> kF32 = make_kernels<F32, 6, 2>("avx2");
constexpr Kernels<double> kF64 = make_kernels<F64, 6, 2>("avx2");

}  // namespace

template <>
const Kernels<float>* avx2_kernels<float>() {
  return &kF32;
}
template <>
const Kernels<double>* avx2_kernels<double>() {
  return &kF64;
}

}  // namespace tessera::cpu
#endif
