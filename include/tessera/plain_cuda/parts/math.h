// CUDA's mathematical functions and intrinsics beyond those of <cmath>. Rounding and accuracy are
// those of the C library: a GPU's approximate intrinsics (CUDA Math API) differ in their last bits.
#pragma once

#include <math.h>  // as in CUDA: abs(float), isnan and their like without std::
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "../vector_types.h"

// ---- min and max, mixed types as CUDA has them ----
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

// ---- functions ----
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline double sinpi(double x) { return std::sin(M_PI * x); }
inline double cospi(double x) { return std::cos(M_PI * x); }
inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
inline float cospif(float x) { return static_cast<float>(cospi(x)); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(x)); }
inline float norm3df(float x, float y, float z) { return std::hypot(x, y, z); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline float rhypotf(float x, float y) { return 1.0f / std::hypot(x, y); }
inline float fdividef(float x, float y) { return x / y; }

// ---- bits ----
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) {
  return static_cast<int>(std::bit_cast<std::int64_t>(x) >> 32);
}
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::int64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
                               static_cast<std::uint32_t>(low));
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long out = 0;
  for (int i = 0; i < 64; ++i) out |= (x >> i & 1) << (63 - i);
  return out;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i)
    out |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return out;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >>
                               32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31));
}

// ---- whole numbers ----
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return static_cast<unsigned>(a < b ? b - a : a - b) + c;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}

// ---- single and double precision with a rounding in the name, fast versions ----
inline float __saturatef(float x) { return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x; }
#define TESSERA_ROUNDED(rounding)                                                            \
  inline float __fadd_##rounding(float a, float b) { return a + b; }                         \
  inline float __fsub_##rounding(float a, float b) { return a - b; }                         \
  inline float __fmul_##rounding(float a, float b) { return a * b; }                         \
  inline float __fdiv_##rounding(float a, float b) { return a / b; }                         \
  inline float __fmaf_##rounding(float a, float b, float c) { return std::fma(a, b, c); }    \
  inline float __frcp_##rounding(float a) { return 1.0f / a; }                               \
  inline float __fsqrt_##rounding(float a) { return std::sqrt(a); }                          \
  inline double __dadd_##rounding(double a, double b) { return a + b; }                      \
  inline double __dsub_##rounding(double a, double b) { return a - b; }                      \
  inline double __dmul_##rounding(double a, double b) { return a * b; }                      \
  inline double __ddiv_##rounding(double a, double b) { return a / b; }                      \
  inline double __fma_##rounding(double a, double b, double c) { return std::fma(a, b, c); } \
  inline double __drcp_##rounding(double a) { return 1.0 / a; }                              \
  inline double __dsqrt_##rounding(double a) { return std::sqrt(a); }
TESSERA_ROUNDED(rn)
TESSERA_ROUNDED(rz)
TESSERA_ROUNDED(ru)
TESSERA_ROUNDED(rd)
#undef TESSERA_ROUNDED
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fdividef(float a, float b) { return a / b; }
// The C library declares functions of these names that it does not have.
#define __expf(x) (std::exp(static_cast<float>(x)))
#define __exp10f(x) (std::pow(10.0f, static_cast<float>(x)))
#define __exp2f(x) (std::exp2(static_cast<float>(x)))
#define __logf(x) (std::log(static_cast<float>(x)))
#define __log2f(x) (std::log2(static_cast<float>(x)))
#define __log10f(x) (std::log10(static_cast<float>(x)))
#define __powf(x, y) (std::pow(static_cast<float>(x), static_cast<float>(y)))
#define __sinf(x) (std::sin(static_cast<float>(x)))
#define __cosf(x) (std::cos(static_cast<float>(x)))
#define __tanf(x) (std::tan(static_cast<float>(x)))
#define __tanhf(x) (std::tanh(static_cast<float>(x)))
#define __sincosf(x, s, c) \
  (*(s) = std::sin(static_cast<float>(x)), *(c) = std::cos(static_cast<float>(x)), (void)0)

// ---- conversions ----
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_ru(float x) { return static_cast<int>(std::ceil(x)); }
inline int __float2int_rd(float x) { return static_cast<int>(std::floor(x)); }
inline unsigned __float2uint_rn(float x) { return static_cast<unsigned>(std::nearbyint(x)); }
inline unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
inline unsigned __float2uint_ru(float x) { return static_cast<unsigned>(std::ceil(x)); }
inline unsigned __float2uint_rd(float x) { return static_cast<unsigned>(std::floor(x)); }
inline long long __float2ll_rn(float x) { return std::llrint(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __int2float_rz(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline int __double2int_rn(double x) { return static_cast<int>(std::nearbyint(x)); }
inline int __double2int_rz(double x) { return static_cast<int>(x); }
inline unsigned __double2uint_rn(double x) { return static_cast<unsigned>(std::nearbyint(x)); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline long long __double2ll_rn(double x) { return std::llrint(x); }

// ---- loads and stores with a cache's hint: what they do is load and store ----
#define TESSERA_LOAD(name)                                    \
  template <class T>                                          \
  inline __attribute__((always_inline)) T name(const T* at) { \
    return *at;                                               \
  }
TESSERA_LOAD(__ldg)
TESSERA_LOAD(__ldca)
TESSERA_LOAD(__ldcg)
TESSERA_LOAD(__ldcs)
TESSERA_LOAD(__ldlu)
TESSERA_LOAD(__ldcv)
#undef TESSERA_LOAD
#define TESSERA_STORE(name)                                         \
  template <class T>                                                \
  inline __attribute__((always_inline)) void name(T* at, T value) { \
    *at = value;                                                    \
  }
TESSERA_STORE(__stwb)
TESSERA_STORE(__stcg)
TESSERA_STORE(__stcs)
TESSERA_STORE(__stwt)
#undef TESSERA_STORE
