// CUDA's vector types: dim3, int2, float4, ... with the sizes and alignments of the CUDA C++
// Programming Guide, "Built-in Vector Types".
#pragma once

#define TESSERA_VECTORS(name, T)                               \
  struct name##1 {                                             \
    T x;                                                       \
  };                                                           \
  struct alignas(2 * sizeof(T)) name##2 {                      \
    T x, y;                                                    \
  };                                                           \
  struct name##3 {                                             \
    T x, y, z;                                                 \
  };                                                           \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { \
    T x, y, z, w;                                              \
  };
TESSERA_VECTORS(char, signed char)
TESSERA_VECTORS(uchar, unsigned char)
TESSERA_VECTORS(short, short)
TESSERA_VECTORS(ushort, unsigned short)
TESSERA_VECTORS(int, int)
TESSERA_VECTORS(uint, unsigned int)
TESSERA_VECTORS(long, long)
TESSERA_VECTORS(ulong, unsigned long)
TESSERA_VECTORS(longlong, long long)
TESSERA_VECTORS(ulonglong, unsigned long long)
TESSERA_VECTORS(float, float)
TESSERA_VECTORS(double, double)
#undef TESSERA_VECTORS

struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
