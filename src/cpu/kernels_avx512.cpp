// AVX-512F kernels. Compiled with its instruction set; called only where the CPU has it. Includes
// no library header with inline functions: their code would be shared with the other files.
#include "microkernel.hpp"

#if defined(__x86_64__)
#include "transpose_x86.hpp"

namespace tessera::cpu {

namespace {

struct F32 {
  using element = float;
  using type = __m512;
  static constexpr int lanes = 16, transposed = 8;
  static type zero() { return _mm512_setzero_ps(); }
  static type splat(float x) { return _mm512_set1_ps(x); }
  static __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1); }
  static type load(const float* p) { return _mm512_loadu_ps(p); }
  static type load_first(const float* p, __mmask16 m) { return _mm512_maskz_loadu_ps(m, p); }
  static type broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static type fma(type a, type b, type c) { return _mm512_fmadd_ps(a, b, c); }
  static type mul(type a, type b) { return _mm512_mul_ps(a, b); }
  static type relu(type x, type zero) {
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ), zero);
  }
  static void store(float* p, type x) { _mm512_storeu_ps(p, x); }
  static void store_first(float* p, __mmask16 m, type x) { _mm512_mask_storeu_ps(p, m, x); }
  static void stream(float* p, type x) { _mm512_stream_ps(p, x); }
  static void transpose(float* dst, index_t width, const float* src, index_t line) {
    transpose_8x8(dst, width, src, line);
  }
};

struct F64 {
  using element = double;
  using type = __m512d;
  static constexpr int lanes = 8, transposed = 4;
  static type zero() { return _mm512_setzero_pd(); }
  static type splat(double x) { return _mm512_set1_pd(x); }
  static __mmask8 first(int n) { return static_cast<__mmask8>((1u << n) - 1); }
  static type load(const double* p) { return _mm512_loadu_pd(p); }
  static type load_first(const double* p, __mmask8 m) { return _mm512_maskz_loadu_pd(m, p); }
  static type broadcast(const double* p) { return _mm512_set1_pd(*p); }
  static type fma(type a, type b, type c) { return _mm512_fmadd_pd(a, b, c); }
  static type mul(type a, type b) { return _mm512_mul_pd(a, b); }
  static type relu(type x, type zero) {
    return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, zero, _CMP_LT_OQ), zero);
  }
  static void store(double* p, type x) { _mm512_storeu_pd(p, x); }
  static void store_first(double* p, __mmask8 m, type x) { _mm512_mask_storeu_pd(p, m, x); }
  static void stream(double* p, type x) { _mm512_stream_pd(p, x); }
  static void transpose(double* dst, index_t width, const double* src, index_t line) {
    transpose_4x4(dst, width, src, line);
  }
};

constexpr Kernels<float> kF32 = make_kernels<F32, 8, 3>("avx512");
constexpr Kernels<double> kF64 = make_kernels<F64, 8, 3>("avx512");

}  // namespace

template <>
const Kernels<float>* avx512_kernels<float>() {
  return &kF32;
}
template <>
const Kernels<double>* avx512_kernels<double>() {
  return &kF64;
}

}  // namespace tessera::cpu
#endif
