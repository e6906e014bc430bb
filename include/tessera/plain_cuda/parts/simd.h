// Whole numbers in the halves and bytes of a word: CUDA Math API, "SIMD Intrinsics" and the
// functions for dynamic programming.
#pragma once

#include <cstdint>
#include <type_traits>

#include "place.h"

namespace tessera::plain_cuda {

/// `part` of each pair of fields of type T in a and b.
template <class T, class Part>
constexpr unsigned fields(unsigned a, unsigned b, Part part) {
  constexpr unsigned kBits = 8 * sizeof(T);
  unsigned out = 0;
  for (unsigned at = 0; at < 32; at += kBits)
    out |=
        static_cast<unsigned>(static_cast<std::make_unsigned_t<T>>(part(
            static_cast<int>(static_cast<T>(a >> at)), static_cast<int>(static_cast<T>(b >> at)))))
        << at;
  return out;
}
template <class T>
constexpr int clamped(int x) {
  constexpr int kLeast = std::is_signed_v<T> ? -(1 << (8 * sizeof(T) - 1)) : 0;
  constexpr int kMost = kLeast + (1 << 8 * sizeof(T)) - 1;
  return x < kLeast ? kLeast : x > kMost ? kMost : x;
}
constexpr int distance(int a, int b) { return a < b ? b - a : a - b; }
template <class T>
constexpr unsigned distances(unsigned a, unsigned b) {
  unsigned out = 0;
  fields<T>(a, b, [&](int x, int y) { return out += static_cast<unsigned>(distance(x, y)), 0; });
  return out;
}

}  // namespace tessera::plain_cuda

#define TESSERA_FIELDS(name, signs, expression)                                           \
  inline unsigned name##2(unsigned a, unsigned b) {                                       \
    using T = signs short;                                                                \
    return ::tessera::plain_cuda::fields<T>(                                              \
        a, b, []([[maybe_unused]] int x, [[maybe_unused]] int y) { return expression; }); \
  }                                                                                       \
  inline unsigned name##4(unsigned a, unsigned b) {                                       \
    using T = signs char;                                                                 \
    return ::tessera::plain_cuda::fields<T>(                                              \
        a, b, []([[maybe_unused]] int x, [[maybe_unused]] int y) { return expression; }); \
  }
TESSERA_FIELDS(__vadd, unsigned, x + y)
TESSERA_FIELDS(__vaddss, signed, ::tessera::plain_cuda::clamped<T>(x + y))
TESSERA_FIELDS(__vaddus, unsigned, ::tessera::plain_cuda::clamped<T>(x + y))
TESSERA_FIELDS(__vsub, unsigned, x - y)
TESSERA_FIELDS(__vsubss, signed, ::tessera::plain_cuda::clamped<T>(x - y))
TESSERA_FIELDS(__vsubus, unsigned, ::tessera::plain_cuda::clamped<T>(x - y))
TESSERA_FIELDS(__vabsdiffs, signed, ::tessera::plain_cuda::distance(x, y))
TESSERA_FIELDS(__vabsdiffu, unsigned, ::tessera::plain_cuda::distance(x, y))
TESSERA_FIELDS(__vavgs, signed, (x + y + (x + y < 0 ? 0 : 1)) >> 1)
TESSERA_FIELDS(__vavgu, unsigned, (x + y + 1) >> 1)
TESSERA_FIELDS(__vhaddu, unsigned, (x + y) >> 1)
TESSERA_FIELDS(__vmaxs, signed, x < y ? y : x)
TESSERA_FIELDS(__vmaxu, unsigned, x < y ? y : x)
TESSERA_FIELDS(__vmins, signed, y < x ? y : x)
TESSERA_FIELDS(__vminu, unsigned, y < x ? y : x)
#define TESSERA_COMPARED(name, signs, relation)              \
  TESSERA_FIELDS(__vcmp##name, signs, x relation y ? -1 : 0) \
  TESSERA_FIELDS(__vset##name, signs, x relation y ? 1 : 0)
TESSERA_COMPARED(eq, unsigned, ==)
TESSERA_COMPARED(ne, unsigned, !=)
TESSERA_COMPARED(ges, signed, >=)
TESSERA_COMPARED(geu, unsigned, >=)
TESSERA_COMPARED(gts, signed, >)
TESSERA_COMPARED(gtu, unsigned, >)
TESSERA_COMPARED(les, signed, <=)
TESSERA_COMPARED(leu, unsigned, <=)
TESSERA_COMPARED(lts, signed, <)
TESSERA_COMPARED(ltu, unsigned, <)
#undef TESSERA_COMPARED
#undef TESSERA_FIELDS

#define TESSERA_FIELDS_OF_ONE(name, expression)                                               \
  inline unsigned name##2(unsigned a) {                                                       \
    using T [[maybe_unused]] = short;                                                         \
    return ::tessera::plain_cuda::fields<short>(a, a, [](int x, int) { return expression; }); \
  }                                                                                           \
  inline unsigned name##4(unsigned a) {                                                       \
    using T [[maybe_unused]] = signed char;                                                   \
    return ::tessera::plain_cuda::fields<signed char>(a, a,                                   \
                                                      [](int x, int) { return expression; }); \
  }
TESSERA_FIELDS_OF_ONE(__vabs, x < 0 ? -x : x)
TESSERA_FIELDS_OF_ONE(__vabsss, ::tessera::plain_cuda::clamped<T>(x < 0 ? -x : x))
TESSERA_FIELDS_OF_ONE(__vneg, -x)
TESSERA_FIELDS_OF_ONE(__vnegss, ::tessera::plain_cuda::clamped<T>(-x))
#undef TESSERA_FIELDS_OF_ONE

inline unsigned __vsads2(unsigned a, unsigned b) {
  return ::tessera::plain_cuda::distances<short>(a, b);
}
inline unsigned __vsads4(unsigned a, unsigned b) {
  return ::tessera::plain_cuda::distances<signed char>(a, b);
}
inline unsigned __vsadu2(unsigned a, unsigned b) {
  return ::tessera::plain_cuda::distances<unsigned short>(a, b);
}
inline unsigned __vsadu4(unsigned a, unsigned b) {
  return ::tessera::plain_cuda::distances<unsigned char>(a, b);
}

// ---- max and min of three, of a sum; _relu: of 0 as well ----
namespace tessera::plain_cuda {
template <class T>
constexpr T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
constexpr T smaller(T a, T b) {
  return b < a ? b : a;
}
/// `part` of the halves of each of the words.
template <class Half, class Part>
constexpr unsigned halves(unsigned a, unsigned b, unsigned c, Part part) {
  const unsigned low = static_cast<unsigned short>(
      part(static_cast<Half>(a), static_cast<Half>(b), static_cast<Half>(c)));
  const unsigned high = static_cast<unsigned short>(
      part(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16), static_cast<Half>(c >> 16)));
  return high << 16 | low;
}
}  // namespace tessera::plain_cuda

// The sums wrap around, as those of whole numbers of the device do.
#define TESSERA_DPX(pick, best)                                                                \
  TESSERA_DPX_OF(pick, best, , x)                                                              \
  TESSERA_DPX_OF(pick, best, _relu, (::tessera::plain_cuda::larger<decltype(x)>(x, 0)))        \
  inline unsigned __vi##pick##3_u32(unsigned a, unsigned b, unsigned c) {                      \
    return ::tessera::plain_cuda::best(::tessera::plain_cuda::best(a, b), c);                  \
  }                                                                                            \
  inline unsigned __vi##pick##3_u16x2(unsigned a, unsigned b, unsigned c) {                    \
    return ::tessera::plain_cuda::halves<unsigned short>(a, b, c, [](auto u, auto v, auto w) { \
      return ::tessera::plain_cuda::best(::tessera::plain_cuda::best(u, v), w);                \
    });                                                                                        \
  }                                                                                            \
  inline unsigned __viadd##pick##_u32(unsigned a, unsigned b, unsigned c) {                    \
    return ::tessera::plain_cuda::best(a + b, c);                                              \
  }                                                                                            \
  inline unsigned __viadd##pick##_u16x2(unsigned a, unsigned b, unsigned c) {                  \
    return ::tessera::plain_cuda::halves<unsigned short>(a, b, c, [](auto u, auto v, auto w) { \
      return ::tessera::plain_cuda::best(static_cast<decltype(w)>(u + v), w);                  \
    });                                                                                        \
  }
#define TESSERA_DPX_OF(pick, best, relu, result)                                         \
  inline int __vi##pick##3_s32##relu(int a, int b, int c) {                              \
    const int x = ::tessera::plain_cuda::best(::tessera::plain_cuda::best(a, b), c);     \
    return result;                                                                       \
  }                                                                                      \
  inline unsigned __vi##pick##3_s16x2##relu(unsigned a, unsigned b, unsigned c) {        \
    return ::tessera::plain_cuda::halves<short>(a, b, c, [](short u, short v, short w) { \
      const short x = ::tessera::plain_cuda::best(::tessera::plain_cuda::best(u, v), w); \
      return result;                                                                     \
    });                                                                                  \
  }                                                                                      \
  inline int __viadd##pick##_s32##relu(int a, int b, int c) {                            \
    const int x = ::tessera::plain_cuda::best(                                           \
        static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);       \
    return result;                                                                       \
  }                                                                                      \
  inline unsigned __viadd##pick##_s16x2##relu(unsigned a, unsigned b, unsigned c) {      \
    return ::tessera::plain_cuda::halves<short>(a, b, c, [](short u, short v, short w) { \
      const short x = ::tessera::plain_cuda::best(static_cast<short>(u + v), w);         \
      return result;                                                                     \
    });                                                                                  \
  }
TESSERA_DPX(max, larger)
TESSERA_DPX(min, smaller)
#undef TESSERA_DPX
#undef TESSERA_DPX_OF
#define TESSERA_RELU(pick)                                                                   \
  inline int __vi##pick##_s32_relu(int a, int b) { return __vi##pick##3_s32_relu(a, b, b); } \
  inline unsigned __vi##pick##_s16x2_relu(unsigned a, unsigned b) {                          \
    return __vi##pick##3_s16x2_relu(a, b, b);                                                \
  }
TESSERA_RELU(max)
TESSERA_RELU(min)
#undef TESSERA_RELU
/// The predicates: is it the first?
#define TESSERA_WITH_PREDICATES(pick, relation)                                                \
  TESSERA_AT_CALL int __vib##pick##_s32(int a, int b, bool* is_a) {                            \
    *is_a = a relation b;                                                                      \
    return a relation b ? a : b;                                                               \
  }                                                                                            \
  TESSERA_AT_CALL unsigned __vib##pick##_u32(unsigned a, unsigned b, bool* is_a) {             \
    *is_a = a relation b;                                                                      \
    return a relation b ? a : b;                                                               \
  }                                                                                            \
  TESSERA_AT_CALL unsigned __vib##pick##_s16x2(unsigned a, unsigned b, bool* is_a_high,        \
                                               bool* is_a_low) {                               \
    const auto high_a = static_cast<short>(a >> 16), high_b = static_cast<short>(b >> 16);     \
    const auto low_a = static_cast<short>(a), low_b = static_cast<short>(b);                   \
    *is_a_high = high_a relation high_b, *is_a_low = low_a relation low_b;                     \
    return ((high_a relation high_b ? a : b) & 0xffff0000u) |                                  \
           ((low_a relation low_b ? a : b) & 0xffffu);                                         \
  }                                                                                            \
  TESSERA_AT_CALL unsigned __vib##pick##_u16x2(unsigned a, unsigned b, bool* is_a_high,        \
                                               bool* is_a_low) {                               \
    *is_a_high = (a >> 16) relation(b >> 16), *is_a_low = (a & 0xffffu) relation(b & 0xffffu); \
    return (((a >> 16) relation(b >> 16) ? a : b) & 0xffff0000u) |                             \
           (((a & 0xffffu) relation(b & 0xffffu) ? a : b) & 0xffffu);                          \
  }
TESSERA_WITH_PREDICATES(max, >=)
TESSERA_WITH_PREDICATES(min, <=)
#undef TESSERA_WITH_PREDICATES
