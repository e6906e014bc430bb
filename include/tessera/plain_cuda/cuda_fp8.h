// 8-bit floating point: CUDA Math API, "FP8 Intrinsics". Formats: OCP 8-bit Floating Point
// Specification. Conversions to them round to nearest even, from what is given, once.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "cuda_bf16.h"
#include "cuda_fp16.h"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace tessera::plain_cuda {
constexpr NarrowFormat format_of(__nv_fp8_interpretation_t which) {
  return which == __NV_E4M3 ? kE4m3 : kE5m2;
}
}  // namespace tessera::plain_cuda

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t which) {
  return static_cast<__nv_fp8_storage_t>(tessera::plain_cuda::narrow_bits(
      tessera::plain_cuda::format_of(which), x, tessera::plain_cuda::Rounding::nearest,
      saturation == __NV_SATFINITE));
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t which) {
  return __nv_cvt_double_to_fp8(x, saturation, which);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t which) {
  return __nv_cvt_double_to_fp8(__half(x).value(), saturation, which);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                      __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t which) {
  return __nv_cvt_double_to_fp8(__nv_bfloat16(x).value(), saturation, which);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t which) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(x.x, saturation, which) |
                                           __nv_cvt_float_to_fp8(x.y, saturation, which) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t which) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(x.x, saturation, which) |
                                           __nv_cvt_double_to_fp8(x.y, saturation, which) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t which) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_halfraw_to_fp8({x.x}, saturation, which) |
                                           __nv_cvt_halfraw_to_fp8({x.y}, saturation, which) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x,
                                                           __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t which) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_bfloat16raw_to_fp8({x.x}, saturation, which) |
                                           __nv_cvt_bfloat16raw_to_fp8({x.y}, saturation, which)
                                               << 8);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t which) {
  return __half(tessera::plain_cuda::narrow_value(tessera::plain_cuda::format_of(which), x));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                              __nv_fp8_interpretation_t which) {
  const auto low = static_cast<__nv_fp8_storage_t>(x),
             high = static_cast<__nv_fp8_storage_t>(x >> 8);
  return {__nv_cvt_fp8_to_halfraw(low, which).x, __nv_cvt_fp8_to_halfraw(high, which).x};
}

#define TESSERA_FP8(form, which)                                                                   \
  struct __nv_fp8_##form {                                                                         \
    __nv_fp8_storage_t __x;                                                                        \
    __nv_fp8_##form() = default;                                                                   \
    explicit __nv_fp8_##form(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, which)) {}    \
    explicit __nv_fp8_##form(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, which)) {}  \
    explicit __nv_fp8_##form(__half x)                                                             \
        : __x(__nv_cvt_double_to_fp8(x.value(), __NV_SATFINITE, which)) {}                         \
    explicit __nv_fp8_##form(__nv_bfloat16 x)                                                      \
        : __x(__nv_cvt_double_to_fp8(x.value(), __NV_SATFINITE, which)) {}                         \
    explicit __nv_fp8_##form(int x) : __nv_fp8_##form(static_cast<double>(x)) {}                   \
    TESSERA_AT_CALL explicit operator float() const {                                              \
      return tessera::plain_cuda::narrow_value(tessera::plain_cuda::format_of(which), __x);        \
    }                                                                                              \
    TESSERA_AT_CALL explicit operator double() const { return static_cast<float>(*this); }         \
    TESSERA_AT_CALL explicit operator __half() const { return __half(static_cast<float>(*this)); } \
    TESSERA_AT_CALL explicit operator __nv_bfloat16() const {                                      \
      return __nv_bfloat16(static_cast<float>(*this));                                             \
    }                                                                                              \
  };                                                                                               \
  struct __nv_fp8x2_##form {                                                                       \
    __nv_fp8x2_storage_t __x;                                                                      \
    __nv_fp8x2_##form() = default;                                                                 \
    explicit __nv_fp8x2_##form(float2 x)                                                           \
        : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, which)) {}                               \
    explicit __nv_fp8x2_##form(double2 x)                                                          \
        : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, which)) {}                              \
    explicit __nv_fp8x2_##form(__half2 x) : __nv_fp8x2_##form(float2{x.x, x.y}) {}                 \
    explicit __nv_fp8x2_##form(__nv_bfloat162 x) : __nv_fp8x2_##form(float2{x.x, x.y}) {}          \
    TESSERA_AT_CALL explicit operator __half2() const {                                            \
      const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(__x, which);                              \
      return {__half(__half_raw{raw.x}), __half(__half_raw{raw.y})};                               \
    }                                                                                              \
                                                                                                   \
    TESSERA_AT_CALL explicit operator float2() const {                                             \
      const auto format = tessera::plain_cuda::format_of(which);                                   \
      return {tessera::plain_cuda::narrow_value(format, __x & 0xffu),                              \
              tessera::plain_cuda::narrow_value(format, __x >> 8u)};                               \
    }                                                                                              \
  };                                                                                               \
  struct __nv_fp8x4_##form {                                                                       \
    __nv_fp8x4_storage_t __x;                                                                      \
    __nv_fp8x4_##form() = default;                                                                 \
    explicit __nv_fp8x4_##form(float4 x)                                                           \
        : __x(__nv_cvt_float2_to_fp8x2({x.x, x.y}, __NV_SATFINITE, which) |                        \
              static_cast<unsigned>(__nv_cvt_float2_to_fp8x2({x.z, x.w}, __NV_SATFINITE, which))   \
                  << 16) {}                                                                        \
    __nv_fp8x4_##form(__half2 low, __half2 high)                                                   \
        : __nv_fp8x4_##form(float4{low.x, low.y, high.x, high.y}) {}                               \
    __nv_fp8x4_##form(__nv_bfloat162 low, __nv_bfloat162 high)                                     \
        : __nv_fp8x4_##form(float4{low.x, low.y, high.x, high.y}) {}                               \
                                                                                                   \
    TESSERA_AT_CALL explicit operator float4() const {                                             \
      float4 out;                                                                                  \
      float* const parts[] = {&out.x, &out.y, &out.z, &out.w};                                     \
      for (int i = 0; i < 4; ++i)                                                                  \
        *parts[i] = tessera::plain_cuda::narrow_value(tessera::plain_cuda::format_of(which),       \
                                                      __x >> 8 * i & 0xff);                        \
      return out;                                                                                  \
    }                                                                                              \
  };
TESSERA_FP8(e4m3, __NV_E4M3)
TESSERA_FP8(e5m2, __NV_E5M2)
#undef TESSERA_FP8
#include "parts/letters_end.h"
