// make_int2(x, y), make_float4(x, y, z, w), ...
#pragma once

#include "vector_types.h"

#define TESSERA_MAKE(name, T)                                           \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TESSERA_MAKE(char, signed char)
TESSERA_MAKE(uchar, unsigned char)
TESSERA_MAKE(short, short)
TESSERA_MAKE(ushort, unsigned short)
TESSERA_MAKE(int, int)
TESSERA_MAKE(uint, unsigned int)
TESSERA_MAKE(long, long)
TESSERA_MAKE(ulong, unsigned long)
TESSERA_MAKE(longlong, long long)
TESSERA_MAKE(ulonglong, unsigned long long)
TESSERA_MAKE(float, float)
TESSERA_MAKE(double, double)
#undef TESSERA_MAKE
