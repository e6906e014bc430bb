// Half precision: CUDA Math API, "Half Precision Intrinsics". All results are rounded correctly.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "cuda_runtime.h"
#include "parts/narrow.h"

#define TESSERA_T __half
#define TESSERA_T2 __half2
#define TESSERA_RAW __half_raw
#define TESSERA_RAW2 __half2_raw
#define TESSERA_FORMAT tessera::plain_cuda::kHalf
#include "parts/narrow_type.h"
//
#include "parts/narrow_functions.h"
#define TESSERA_NAME half
#include "parts/narrow_conversions.h"

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

inline __half __short_as_half(short x) { return __half::from_bits(static_cast<unsigned short>(x)); }
inline __half __ushort_as_half(unsigned short x) { return __half::from_bits(x); }
inline short __half_as_short(__half x) { return static_cast<short>(x.bits()); }
inline unsigned short __half_as_ushort(__half x) { return x.bits(); }
inline __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }

#define CUDART_INF_FP16 (__ushort_as_half(0x7c00))
#define CUDART_NAN_FP16 (__ushort_as_half(0x7fff))
#define CUDART_MIN_DENORM_FP16 (__ushort_as_half(0x0001))
#define CUDART_MAX_NORMAL_FP16 (__ushort_as_half(0x7bff))
#define CUDART_NEG_ZERO_FP16 (__ushort_as_half(0x8000))
#define CUDART_ZERO_FP16 (__ushort_as_half(0x0000))
#define CUDART_ONE_FP16 (__ushort_as_half(0x3c00))
// What older programs use to reach the bits of a half in inline PTX.
#define __HALF_TO_US(x) (*reinterpret_cast<unsigned short*>(&(x)))
#define __HALF_TO_CUS(x) (*reinterpret_cast<const unsigned short*>(&(x)))
#define __HALF2_TO_UI(x) (*reinterpret_cast<unsigned int*>(&(x)))
#define __HALF2_TO_CUI(x) (*reinterpret_cast<const unsigned int*>(&(x)))

#undef TESSERA_T
#undef TESSERA_T2
#undef TESSERA_RAW
#undef TESSERA_RAW2
#undef TESSERA_FORMAT
#undef TESSERA_NAME
#include "parts/letters_end.h"
