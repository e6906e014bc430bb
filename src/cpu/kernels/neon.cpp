// NEON (AArch64 Advanced SIMD) kernels: 32 registers of 128 bits, as many as AVX-512 has. Integers
// and the conversion of halves are left to plain C++.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

struct F32 {
  using sum = float;
  using type = float32x4_t;
  static constexpr int lanes = 4, transposed = 4;
  static type zero() { return vdupq_n_f32(0); }
  static type splat(float x) { return vdupq_n_f32(x); }
  static int first(int n) { return n; }
  static type load(const float* p) { return vld1q_f32(p); }
  static type load_first(const float* p, int n) {
    float x[lanes];
    for (int i = 0; i < lanes; ++i) x[i] = p[i < n ? i : 0];
    return vld1q_f32(x);
  }
  static type broadcast(const float* p) { return vld1q_dup_f32(p); }
  static type fma(type a, type b, type c) { return vfmaq_f32(c, a, b); }
  static type fma_first(int n, const float* p, const float* q, type acc) {
    float x[lanes];
    vst1q_f32(x, acc);
    for (int i = 0; i < n; ++i) x[i] = __builtin_fmaf(p[i], q[i], x[i]);
    return vld1q_f32(x);
  }
  static type add(type a, type b) { return vaddq_f32(a, b); }
  template <int W>
  static type folded(type u, type v) {
    if constexpr (W == 1) return add(vtrn1q_f32(u, v), vtrn2q_f32(u, v));
    const float64x2_t a = vreinterpretq_f64_f32(u), b = vreinterpretq_f64_f32(v);
    return add(vreinterpretq_f32_f64(vzip1q_f64(a, b)), vreinterpretq_f32_f64(vzip2q_f64(a, b)));
  }
  static type mul(type a, type b) { return vmulq_f32(a, b); }
  static void store(float* p, type x) { vst1q_f32(p, x); }
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

struct F64 {
  using sum = double;
  using type = float64x2_t;
  static constexpr int lanes = 2, transposed = 2;
  static type zero() { return vdupq_n_f64(0); }
  static type splat(double x) { return vdupq_n_f64(x); }
  static int first(int n) { return n; }
  static type load(const double* p) { return vld1q_f64(p); }
  static type load_first(const double* p, int n) {
    return n == 2 ? vld1q_f64(p) : vld1q_dup_f64(p);
  }
  static type broadcast(const double* p) { return vld1q_dup_f64(p); }
  static type fma(type a, type b, type c) { return vfmaq_f64(c, a, b); }
  static type fma_first(int n, const double* p, const double* q, type acc) {
    double x[lanes];
    vst1q_f64(x, acc);
    for (int i = 0; i < n; ++i) x[i] = __builtin_fma(p[i], q[i], x[i]);
    return vld1q_f64(x);
  }
  static type add(type a, type b) { return vaddq_f64(a, b); }
  template <int W>
  static type folded(type u, type v) {
    return add(vzip1q_f64(u, v), vzip2q_f64(u, v));
  }
  static type mul(type a, type b) { return vmulq_f64(a, b); }
  static void store(double* p, type x) { vst1q_f64(p, x); }
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

using F = Plain<F32>;
using D = Plain<F64>;

/// A of one type of bytes and B of another, or of the same.
template <class ElementOfA, class ElementOfB = ElementOfA>
constexpr auto integer_kernels() {
  using Pairs = PortablePairs<4>;
  using Source =
      std::conditional_t<std::is_same_v<ElementOfA, ElementOfB>, ElementOfA, std::uint8_t>;
  return make_kernels<Pairs, 4, 1, Source>("portable",
                                           pack_groups<Pairs, PairsOf<Pairs, ElementOfA, Source>>,
                                           pack_groups<Pairs, PairsOf<Pairs, ElementOfB, Source>>);
}

constexpr auto kF32 = make_kernels<F, 8, 3, float>("neon", pack_panels<F>, pack_panels<F>);
constexpr auto kF64 = make_kernels<D, 8, 3, double>("neon", pack_panels<D>, pack_panels<D>);

}  // namespace

constexpr KernelSet kNeon = {kF32,
                             kF64,
                             make_converted_kernels<F, 8, 3, PortableConvert<F, HalfBits>>("neon"),
                             make_converted_kernels<F, 8, 3, PortableConvert<F, BrainBits>>("neon"),
                             integer_kernels<std::int8_t>(),
                             integer_kernels<std::uint8_t>(),
                             integer_kernels<std::uint8_t, std::int8_t>(),
                             integer_kernels<std::int8_t, std::uint8_t>(),
                             complex_kernels<F, D>(kF32),
                             complex_kernels<D, D>(kF64)};

}  // namespace tessera::cpu
#endif
