// NEON (AArch64 Advanced SIMD) kernels: 32 registers of 128 bits, as many as AVX-512 has. Integers
// and the conversion of halves are left to plain C++.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

struct F32 : Lanes<float, 16> {
  static constexpr int transposed = 4;
  static type splat(float x) { return vdupq_n_f32(x); }
  static int first(int n) { return n; }
  static type load_first(const float* p, int n) {
    float x[lanes];
    for (int i = 0; i < lanes; ++i) x[i] = p[i < n ? i : 0];
    return vld1q_f32(x);
  }
  static type fma(type a, type b, type c) { return vfmaq_f32(c, a, b); }
  static type fma_first(int n, const float* p, const float* q, type acc) {
    float x[lanes];
    vst1q_f32(x, acc);
    for (int i = 0; i < n; ++i) x[i] = __builtin_fmaf(p[i], q[i], x[i]);
    return vld1q_f32(x);
  }
  template <int W>
  static type folded(type u, type v) {
    if constexpr (W == 1) return add(vtrn1q_f32(u, v), vtrn2q_f32(u, v));
    const float64x2_t a = vreinterpretq_f64_f32(u), b = vreinterpretq_f64_f32(v);
    return add(vreinterpretq_f32_f64(vzip1q_f64(a, b)), vreinterpretq_f32_f64(vzip2q_f64(a, b)));
  }
  static void store_first(float* p, int n, type v) {
    float x[lanes];
    vst1q_f32(x, v);
    for (int i = 0; i < n; ++i) p[i] = x[i];
  }
  static void stream(float* p, type x) { store(p, x); }
  /// dst[k * width + i] = element k of the line at from + i * line bytes, for i, k < 4.
  static void transpose(float* dst, index_t width, const void* from, index_t line) {
    const auto* src = static_cast<const char*>(from);
    float32x4x4_t rows;
    TESSERA_UNROLL
    for (int i = 0; i < 4; ++i)
      rows.val[i] = vld1q_f32(reinterpret_cast<const float*>(src + i * line));
    float block[16];
    vst4q_f32(block, rows);
    TESSERA_UNROLL
    for (int k = 0; k < 4; ++k) vst1q_f32(dst + k * width, vld1q_f32(block + 4 * k));
  }
};

struct F64 : Lanes<double, 16> {
  static constexpr int transposed = 2;
  static type splat(double x) { return vdupq_n_f64(x); }
  static int first(int n) { return n; }
  static type load_first(const double* p, int n) {
    return n == 2 ? vld1q_f64(p) : vld1q_dup_f64(p);
  }
  static type fma(type a, type b, type c) { return vfmaq_f64(c, a, b); }
  static type fma_first(int n, const double* p, const double* q, type acc) {
    double x[lanes];
    vst1q_f64(x, acc);
    for (int i = 0; i < n; ++i) x[i] = __builtin_fma(p[i], q[i], x[i]);
    return vld1q_f64(x);
  }
  template <int W>
  static type folded(type u, type v) {
    return add(vzip1q_f64(u, v), vzip2q_f64(u, v));
  }
  static void store_first(double* p, int n, type x) {
    if (n == 2) vst1q_f64(p, x);
    else *p = vgetq_lane_f64(x, 0);
  }
  static void stream(double* p, type x) { store(p, x); }
  static void transpose(double* dst, index_t width, const void* from, index_t line) {
    const auto* src = static_cast<const char*>(from);
    const type a = vld1q_f64(reinterpret_cast<const double*>(src)),
               b = vld1q_f64(reinterpret_cast<const double*>(src + line));
    vst1q_f64(dst, vtrn1q_f64(a, b));
    vst1q_f64(dst + width, vtrn2q_f64(a, b));
  }
};

struct Set {
  using F32 = Plain<cpu::F32>;
  using F64 = Plain<cpu::F64>;
  using Pairs = PortablePairs<4>;
  using Half = PortableConvert<F32, HalfBits>;
  using Brain = PortableConvert<F32, BrainBits>;
  static constexpr int rows = 8, vectors = 3, pairs_rows = 4, pairs_vectors = 1;
  static constexpr const char* pairs_isa = "portable";
};

}  // namespace

constexpr KernelSet kNeon = make_plain_kernel_set<Set>("neon");

}  // namespace tessera::cpu
#endif
