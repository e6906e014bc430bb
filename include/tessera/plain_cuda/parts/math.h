// CUDA's mathematical functions and intrinsics beyond those of <cmath>. Rounding and accuracy are
// those of the C library: a GPU's approximate intrinsics (CUDA Math API) differ in their last bits.
#pragma once

#include <math.h>  // as in CUDA: abs(float), isnan and their like without std::
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../vector_types.h"
#include "functions.h"
#include "simd.h"
#include "whole_numbers.h"

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

// ---- conversions: to whole numbers, where what is too large becomes the largest ----
namespace tessera::plain_cuda {
template <class To, class From>
inline To whole(From x) {
  constexpr bool kIsLong = sizeof(To) == 8;
  if (x != x) return kIsLong ? static_cast<To>(std::uint64_t{1} << 63) : To{0};
  constexpr To kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();
  if (x <= static_cast<From>(kLeast)) return kLeast;
  return x >= static_cast<From>(kMost) ? kMost : static_cast<To>(x);
}
}  // namespace tessera::plain_cuda
#define TESSERA_TO_WHOLE_ROUNDED(from, From, to, To, rounding, function) \
  inline To __##from##2##to##_##rounding(From x) {                       \
    return ::tessera::plain_cuda::whole<To>(function(x));                \
  }
#define TESSERA_TO_WHOLE(from, From, to, To)                       \
  TESSERA_TO_WHOLE_ROUNDED(from, From, to, To, rn, std::nearbyint) \
  TESSERA_TO_WHOLE_ROUNDED(from, From, to, To, rz, std::trunc)     \
  TESSERA_TO_WHOLE_ROUNDED(from, From, to, To, ru, std::ceil)      \
  TESSERA_TO_WHOLE_ROUNDED(from, From, to, To, rd, std::floor)
TESSERA_TO_WHOLE(float, float, int, int)
TESSERA_TO_WHOLE(float, float, uint, unsigned)
TESSERA_TO_WHOLE(float, float, ll, long long)
TESSERA_TO_WHOLE(float, float, ull, unsigned long long)
TESSERA_TO_WHOLE(double, double, int, int)
TESSERA_TO_WHOLE(double, double, uint, unsigned)
TESSERA_TO_WHOLE(double, double, ll, long long)
TESSERA_TO_WHOLE(double, double, ull, unsigned long long)
#undef TESSERA_TO_WHOLE
#undef TESSERA_TO_WHOLE_ROUNDED
#define TESSERA_TO_FLOATING(from, From, to)                             \
  inline to __##from##2##to##_rn(From x) { return static_cast<to>(x); } \
  inline to __##from##2##to##_rz(From x) { return static_cast<to>(x); } \
  inline to __##from##2##to##_ru(From x) { return static_cast<to>(x); } \
  inline to __##from##2##to##_rd(From x) { return static_cast<to>(x); }
TESSERA_TO_FLOATING(int, int, float)
TESSERA_TO_FLOATING(uint, unsigned, float)
TESSERA_TO_FLOATING(ll, long long, float)
TESSERA_TO_FLOATING(ull, unsigned long long, float)
TESSERA_TO_FLOATING(double, double, float)
TESSERA_TO_FLOATING(ll, long long, double)
TESSERA_TO_FLOATING(ull, unsigned long long, double)
#undef TESSERA_TO_FLOATING
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

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
