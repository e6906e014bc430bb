// bfloat16: CUDA Math API, "Bfloat16 Precision Intrinsics". All results are rounded correctly.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "cuda_runtime.h"
#include "parts/narrow.h"

#define TESSERA_T __nv_bfloat16
#define TESSERA_T2 __nv_bfloat162
#define TESSERA_RAW __nv_bfloat16_raw
#define TESSERA_RAW2 __nv_bfloat162_raw
#define TESSERA_FORMAT tessera::plain_cuda::kBfloat16
#include "parts/narrow_type.h"
//
#include "parts/narrow_functions.h"
#define TESSERA_NAME bfloat16
#include "parts/narrow_conversions.h"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __short_as_bfloat16(short x) {
  return __nv_bfloat16::from_bits(static_cast<unsigned short>(x));
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16::from_bits(x); }
inline short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.bits()); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits(); }
inline __nv_bfloat162 __float22bfloat162_rn(float2 x) {
  return {__nv_bfloat16(x.x), __nv_bfloat16(x.y)};
}
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

#define CUDART_INF_BF16 (__ushort_as_bfloat16(0x7f80))
#define CUDART_NAN_BF16 (__ushort_as_bfloat16(0x7fff))
#define CUDART_MAX_NORMAL_BF16 (__ushort_as_bfloat16(0x7f7f))
#define CUDART_ZERO_BF16 (__ushort_as_bfloat16(0x0000))
#define CUDART_ONE_BF16 (__ushort_as_bfloat16(0x3f80))

#undef TESSERA_T
#undef TESSERA_T2
#undef TESSERA_RAW
#undef TESSERA_RAW2
#undef TESSERA_FORMAT
#undef TESSERA_NAME
#include "parts/letters_end.h"
