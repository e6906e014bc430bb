// 8-bit floating point: CUDA Math API, "FP8 Intrinsics". Formats: OCP 8-bit Floating Point
// Specification. Conversions to them round to nearest even, from what is given, once.
#pragma once

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
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t which) {
  return __half(tessera::plain_cuda::narrow_value(tessera::plain_cuda::format_of(which), x));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                              __nv_fp8_interpretation_t which) {
  const auto low = static_cast<__nv_fp8_storage_t>(x),
             high = static_cast<__nv_fp8_storage_t>(x >> 8);
  return {__nv_cvt_fp8_to_halfraw(low, which).x, __nv_cvt_fp8_to_halfraw(high, which).x};
}

#define TESSERA_FP8(name, which)                                                                   \
  struct name {                                                                                    \
    __nv_fp8_storage_t __x;                                                                        \
    name() = default;                                                                              \
    explicit name(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, which)) {}               \
    explicit name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, which)) {}             \
    explicit name(__half x) : __x(__nv_cvt_double_to_fp8(x.value(), __NV_SATFINITE, which)) {}     \
    explicit name(__nv_bfloat16 x)                                                                 \
        : __x(__nv_cvt_double_to_fp8(x.value(), __NV_SATFINITE, which)) {}                         \
    explicit name(int x) : name(static_cast<double>(x)) {}                                         \
    TESSERA_AT_CALL explicit operator float() const {                                              \
      return tessera::plain_cuda::narrow_value(tessera::plain_cuda::format_of(which), __x);        \
    }                                                                                              \
    TESSERA_AT_CALL explicit operator double() const { return static_cast<float>(*this); }         \
    TESSERA_AT_CALL explicit operator __half() const { return __half(static_cast<float>(*this)); } \
    TESSERA_AT_CALL explicit operator __nv_bfloat16() const {                                      \
      return __nv_bfloat16(static_cast<float>(*this));                                             \
    }                                                                                              \
  };                                                                                               \
  struct name##x2 {                                                                                \
    __nv_fp8x2_storage_t __x;                                                                      \
    name##x2() = default;                                                                          \
    explicit name##x2(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, which)) {}       \
    explicit name##x2(__half2 x) : name##x2(float2{x.x, x.y}) {}                                   \
    TESSERA_AT_CALL explicit operator float2() const {                                             \
      const auto format = tessera::plain_cuda::format_of(which);                                   \
      return {tessera::plain_cuda::narrow_value(format, __x & 0xffu),                              \
              tessera::plain_cuda::narrow_value(format, __x >> 8u)};                               \
    }                                                                                              \
  };                                                                                               \
  struct name##x4 {                                                                                \
    __nv_fp8x4_storage_t __x;                                                                      \
    name##x4() = default;                                                                          \
    explicit name##x4(float4 x)                                                                    \
        : __x(__nv_cvt_float2_to_fp8x2({x.x, x.y}, __NV_SATFINITE, which) |                        \
              static_cast<unsigned>(__nv_cvt_float2_to_fp8x2({x.z, x.w}, __NV_SATFINITE, which))   \
                  << 16) {}                                                                        \
    TESSERA_AT_CALL explicit operator float4() const {                                             \
      float4 out;                                                                                  \
      float* const parts[] = {&out.x, &out.y, &out.z, &out.w};                                     \
      for (int i = 0; i < 4; ++i)                                                                  \
        *parts[i] = tessera::plain_cuda::narrow_value(tessera::plain_cuda::format_of(which),       \
                                                      __x >> 8 * i & 0xff);                        \
      return out;                                                                                  \
    }                                                                                              \
  };
TESSERA_FP8(__nv_fp8_e4m3, __NV_E4M3)
TESSERA_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef TESSERA_FP8
