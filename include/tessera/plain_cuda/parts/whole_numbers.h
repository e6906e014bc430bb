// CUDA's intrinsics of whole numbers: CUDA Math API, "Integer Mathematical Functions" and "Integer
// Intrinsics".
#pragma once

#include <bit>
#include <cstdint>

#include "../vector_types.h"

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
namespace tessera::plain_cuda {
/// The bits of a whole number or of a vector, in a word.
template <class Word>
inline std::uint32_t word_of(Word word) {
  static_assert(sizeof word == 4);
  return std::bit_cast<std::uint32_t>(word);
}
/// The upper word of the two, shifted to the left by at most 32.
inline unsigned shifted_left(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << shift >> 32);
}
/// The lower word of the two, shifted to the right by at most 32.
inline unsigned shifted_right(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> shift);
}
}  // namespace tessera::plain_cuda
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return tessera::plain_cuda::shifted_left(low, high, shift & 31);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return tessera::plain_cuda::shifted_left(low, high, shift < 32 ? shift : 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return tessera::plain_cuda::shifted_right(low, high, shift & 31);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return tessera::plain_cuda::shifted_right(low, high, shift < 32 ? shift : 32);
}

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
inline int __hadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b) >> 1);
}
inline int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1);
}
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
}

// ---- sums of products of bytes, and of halves and bytes, added to c ----
namespace tessera::plain_cuda {
template <class First, class Second, class A, class B, class C>
inline C dot(A a, B b, C c, int first_byte) {
  constexpr int kBits = 8 * sizeof(First);
  for (int i = 0; i < 32 / kBits; ++i)
    c += static_cast<C>(static_cast<First>(word_of(a) >> kBits * i)) *
         static_cast<C>(static_cast<Second>(word_of(b) >> 8 * (first_byte + i)));
  return c;
}
}  // namespace tessera::plain_cuda
#define TESSERA_DOT(A, B, C, Half, Byte)                                                         \
  inline C __dp2a_lo(A a, B b, C c) { return tessera::plain_cuda::dot<Half, Byte>(a, b, c, 0); } \
  inline C __dp2a_hi(A a, B b, C c) { return tessera::plain_cuda::dot<Half, Byte>(a, b, c, 2); }
TESSERA_DOT(int, int, int, short, signed char)
TESSERA_DOT(unsigned, unsigned, unsigned, unsigned short, unsigned char)
TESSERA_DOT(short2, char4, int, short, signed char)
TESSERA_DOT(ushort2, uchar4, unsigned, unsigned short, unsigned char)
#undef TESSERA_DOT
inline int __dp4a(int a, int b, int c) {
  return tessera::plain_cuda::dot<signed char, signed char>(a, b, c, 0);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return tessera::plain_cuda::dot<unsigned char, unsigned char>(a, b, c, 0);
}
inline int __dp4a(char4 a, char4 b, int c) {
  return tessera::plain_cuda::dot<signed char, signed char>(a, b, c, 0);
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return tessera::plain_cuda::dot<unsigned char, unsigned char>(a, b, c, 0);
}

// ---- min and max by the type in the name ----
#define TESSERA_MIN_MAX(prefix, T)                         \
  inline T prefix##min(T a, T b) { return b < a ? b : a; } \
  inline T prefix##max(T a, T b) { return a < b ? b : a; }
TESSERA_MIN_MAX(u, unsigned)
TESSERA_MIN_MAX(ll, long long)
TESSERA_MIN_MAX(ull, unsigned long long)
#undef TESSERA_MIN_MAX
