// Conversions of a 16-bit type whose names have its name in them: TESSERA_NAME, half or bfloat16.
// Read once for each type, by cuda_fp16.h and cuda_bf16.h; so it has no guard.

#define TESSERA_JOIN_(a, b, c) a##b##c
#define TESSERA_JOIN(a, b, c) TESSERA_JOIN_(a, b, c)
#define TESSERA_TO(from, suffix) TESSERA_JOIN(__##from##2, TESSERA_NAME, suffix)
#define TESSERA_OF(suffix) TESSERA_JOIN(__, TESSERA_NAME, suffix)

#define TESSERA_MODE(suffix, mode)                                        \
  inline TESSERA_T TESSERA_TO(float, suffix)(float x) {                   \
    return TESSERA_T::from_value(x, tessera::plain_cuda::Rounding::mode); \
  }                                                                       \
  TESSERA_FROM_WHOLE(int, int, suffix, mode)                              \
  TESSERA_FROM_WHOLE(uint, unsigned, suffix, mode)                        \
  TESSERA_FROM_WHOLE(short, short, suffix, mode)                          \
  TESSERA_FROM_WHOLE(ushort, unsigned short, suffix, mode)                \
  TESSERA_FROM_WHOLE(ll, long long, suffix, mode)                         \
  TESSERA_FROM_WHOLE(ull, unsigned long long, suffix, mode)
#define TESSERA_FROM_WHOLE(name, I, suffix, mode)                                              \
  inline TESSERA_T TESSERA_TO(name, suffix)(I x) {                                             \
    return TESSERA_T::from_value(static_cast<double>(x), tessera::plain_cuda::Rounding::mode); \
  }                                                                                            \
  inline I TESSERA_OF(2##name##suffix)(TESSERA_T x) {                                          \
    return tessera::plain_cuda::whole<I>(x.value(), tessera::plain_cuda::Rounding::mode);      \
  }
TESSERA_MODE(_rn, nearest)
TESSERA_MODE(_rz, zero)
TESSERA_MODE(_ru, up)
TESSERA_MODE(_rd, down)
#undef TESSERA_MODE
#undef TESSERA_FROM_WHOLE

inline TESSERA_T TESSERA_TO(float, )(float x) { return TESSERA_T(x); }
inline TESSERA_T TESSERA_TO(double, )(double x) { return TESSERA_T(x); }
inline float TESSERA_OF(2float)(TESSERA_T x) { return x; }
/// Towards zero; values that do not fit become the nearest that does.
inline signed char TESSERA_OF(2char_rz)(TESSERA_T x) {
  return tessera::plain_cuda::whole<signed char>(x.value(), tessera::plain_cuda::Rounding::zero);
}
inline unsigned char TESSERA_OF(2uchar_rz)(TESSERA_T x) {
  return tessera::plain_cuda::whole<unsigned char>(x.value(), tessera::plain_cuda::Rounding::zero);
}
inline TESSERA_T2 TESSERA_TO(float, 2_rn)(float x) { return {TESSERA_T(x), TESSERA_T(x)}; }
inline TESSERA_T2 TESSERA_JOIN(__floats2, TESSERA_NAME, 2_rn)(float x, float y) {
  return {TESSERA_T(x), TESSERA_T(y)};
}
inline float2 TESSERA_OF(22float2)(TESSERA_T2 x) { return {x.x, x.y}; }
inline float __low2float(TESSERA_T2 x) { return x.x; }
inline float __high2float(TESSERA_T2 x) { return x.y; }
inline TESSERA_T TESSERA_JOIN(__low2, TESSERA_NAME, )(TESSERA_T2 x) { return x.x; }
inline TESSERA_T TESSERA_JOIN(__high2, TESSERA_NAME, )(TESSERA_T2 x) { return x.y; }
inline TESSERA_T2 TESSERA_JOIN(__low2, TESSERA_NAME, 2)(TESSERA_T2 x) { return {x.x, x.x}; }
inline TESSERA_T2 TESSERA_JOIN(__high2, TESSERA_NAME, 2)(TESSERA_T2 x) { return {x.y, x.y}; }
inline TESSERA_T2 TESSERA_JOIN(__lows2, TESSERA_NAME, 2)(TESSERA_T2 x, TESSERA_T2 y) {
  return {x.x, y.x};
}
inline TESSERA_T2 TESSERA_JOIN(__highs2, TESSERA_NAME, 2)(TESSERA_T2 x, TESSERA_T2 y) {
  return {x.y, y.y};
}
inline TESSERA_T2 __lowhigh2highlow(TESSERA_T2 x) { return {x.y, x.x}; }
#undef TESSERA_JOIN_
#undef TESSERA_JOIN
#undef TESSERA_TO
#undef TESSERA_OF
