// Complex numbers in C: cuComplex, cuDoubleComplex and their functions.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include <cmath>

#include "vector_functions.h"

#define TESSERA_COMPLEX(Complex, T, Vector, f)                                      \
  using Complex = Vector;                                                           \
  inline T cuCreal##f(Complex x) { return x.x; }                                    \
  inline T cuCimag##f(Complex x) { return x.y; }                                    \
  inline Complex make_##Complex(T re, T im) { return {re, im}; }                    \
  inline Complex cuConj##f(Complex x) { return {x.x, -x.y}; }                       \
  inline Complex cuCadd##f(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; } \
  inline Complex cuCsub##f(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; } \
  inline Complex cuCmul##f(Complex a, Complex b) {                                  \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                          \
  }                                                                                 \
  inline Complex cuCdiv##f(Complex a, Complex b) {                                  \
    const T size = std::fabs(b.x) + std::fabs(b.y); /* against overflow */          \
    const T ax = a.x / size, ay = a.y / size, bx = b.x / size, by = b.y / size;     \
    const T square = bx * bx + by * by;                                             \
    return {(ax * bx + ay * by) / square, (ay * bx - ax * by) / square};            \
  }                                                                                 \
  inline T cuCabs##f(Complex x) { return std::hypot(x.x, x.y); }                    \
  inline Complex cuCfma##f(Complex a, Complex b, Complex c) {                       \
    return cuCadd##f(cuCmul##f(a, b), c);                                           \
  }
TESSERA_COMPLEX(cuFloatComplex, float, float2, f)
TESSERA_COMPLEX(cuDoubleComplex, double, double2, )
#undef TESSERA_COMPLEX

using cuComplex = cuFloatComplex;
inline cuComplex make_cuComplex(float re, float im) { return {re, im}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return {static_cast<float>(x.x), static_cast<float>(x.y)};
}
#include "parts/letters_end.h"
