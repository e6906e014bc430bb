// Vectors in plain C++, for kernels/portable.cpp, and for operations that other instruction sets
// lack. Where the architecture has no fused multiply-add, the C library's is called: slow, but the
// same bits.
#pragma once

#include "make_kernels.hpp"

namespace tessera::cpu {

namespace {

template <class T, int Lanes>
struct PortableBase {
  using sum = T;
  struct type {
    T x[Lanes];
  };
  static constexpr int lanes = Lanes, transposed = 0;
  static type zero() { return {}; }
  static type splat(T x) {
    type out;
    for (int i = 0; i < lanes; ++i) out.x[i] = x;
    return out;
  }
  static int first(int n) { return n; }
  static type load(const T* p) { return load_first(p, lanes); }
  static type load_first(const T* p, int n) {
    type out;
    for (int i = 0; i < lanes; ++i) out.x[i] = p[i < n ? i : 0];
    return out;
  }
  static type broadcast(const T* p) { return splat(*p); }
  static type add(type a, type b) {
    for (int i = 0; i < lanes; ++i) a.x[i] = plus(a.x[i], b.x[i]);
    return a;
  }
  static type fma_first(int n, const T* p, const T* q, type acc) {
    for (int i = 0; i < n; ++i) acc.x[i] = fused(p[i], q[i], acc.x[i]);
    return acc;
  }
  template <int W>
  static type folded(type u, type v) {
    type out;
    for (int i = 0; i < lanes; ++i)
      out.x[i] = (i & W) == 0 ? plus(u.x[i], u.x[i + W]) : plus(v.x[i - W], v.x[i]);
    return out;
  }
  static type mul(type a, type b) {
    for (int i = 0; i < lanes; ++i) a.x[i] = times(a.x[i], b.x[i]);
    return a;
  }
  static type fma(type a, type b, type c) {
    for (int i = 0; i < lanes; ++i) c.x[i] = fused(a.x[i], b.x[i], c.x[i]);
    return c;
  }
  static void store(T* p, type x) { store_first(p, lanes, x); }
  static void store_first(T* p, int n, type x) {
    for (int i = 0; i < n; ++i) p[i] = x.x[i];
  }
  static void stream(T* p, type x) { store(p, x); }
  static void transpose(void*, index_t, const void*, index_t) {}

 private:
  static T fused(T a, T b, T c) {
    if constexpr (sizeof(T) == 8) return __builtin_fma(a, b, c);
    else if constexpr (T(0.5) != T(0)) return __builtin_fmaf(a, b, c);
    else return plus(times(a, b), c);
  }
  // Integers wrap modulo 2^32.
  static T plus(T a, T b) {
    if constexpr (T(0.5) != T(0)) return a + b;
    else return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
  static T times(T a, T b) {
    if constexpr (T(0.5) != T(0)) return a * b;
    else return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  }
};

/// Pairs of i16, multiplied and added into i32: exact for any i8 and u8.
template <int Lanes>
struct PortablePairs : PortableBase<std::int32_t, Lanes> {
  using Base = PortableBase<std::int32_t, Lanes>;
  using k_group = std::uint32_t;
  using Unsigned = PortableBase<std::uint32_t, Lanes>;
  using operand = typename Unsigned::type;
  static constexpr int group = 2;
  static operand load_operand(const k_group* p) { return Unsigned::load(p); }
  static operand load_operand_first(const k_group* p, int n) { return Unsigned::load_first(p, n); }
  static operand broadcast(const k_group* p) { return Unsigned::splat(*p); }
  static typename Base::type step(operand x, operand row, typename Base::type acc) {
    for (int i = 0; i < Lanes; ++i) {
      const auto product = [](k_group a, k_group b) {
        return static_cast<std::int32_t>(static_cast<std::int16_t>(a)) *
               static_cast<std::int16_t>(b);
      };
      const auto both = static_cast<std::uint32_t>(product(x.x[i], row.x[i])) +
                        static_cast<std::uint32_t>(product(x.x[i] >> 16, row.x[i] >> 16));
      acc.x[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(acc.x[i]) + both);
    }
    return acc;
  }
};

/// Conversion of single f16 and bf16 elements with integer arithmetic only.
inline float float_of(BrainBits x) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16);
}
inline float float_of(HalfBits x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000) << 16;
  const std::uint32_t exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  std::uint32_t bits = sign;
  if (exponent == 31) bits |= 0x7F800000 | fraction << 13 | (fraction != 0 ? 0x400000u : 0u);
  else if (exponent != 0) bits |= (exponent + 112) << 23 | fraction << 13;
  else {  // zero, or a subnormal: fraction * 2^-24, exact in f32
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    bits |= __builtin_bit_cast(std::uint32_t, value);
  }
  return __builtin_bit_cast(float, bits);
}

/// The nearest f16 or bf16, ties to even; a NaN is a NaN with its sign.
inline void narrow_one(BrainBits& to, float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  const std::uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  to.bits = static_cast<std::uint16_t>(nan ? (bits >> 16 & 0x8000u) | 0x7FC0u : rounded >> 16);
}
inline void narrow_one(HalfBits& to, float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t out;
  if (magnitude > 0x7F800000u) out = 0x7E00u;
  else if (magnitude >= 0x47800000u) out = 0x7C00u;  // 65536 and more
  else if (magnitude >= 0x38800000u)                 // a normal number: 2^-14 and more
    out = (magnitude + 0xFFFu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  else {  // the last place of 0.5f is that of the smallest subnormal: the adder rounds
    const float sum = __builtin_bit_cast(float, magnitude) + 0.5f;
    out = __builtin_bit_cast(std::uint32_t, sum) - 0x3F000000u;
  }
  to.bits = static_cast<std::uint16_t>(sign | out);
}

/// One element after the other: see pack_converted.
template <class V, class Source>
struct PortableConvert {
  using source = Source;
  static float one(Source x) { return float_of(x); }
  static typename V::type load(const Source* p) {
    float x[V::lanes];
    for (int i = 0; i < V::lanes; ++i) x[i] = float_of(p[i]);
    return V::load(x);
  }
  static Source narrowed(float x) {
    Source out;
    narrow_one(out, x);
    return out;
  }
  static void store(Source* p, typename V::type x) {
    float from[V::lanes];
    V::store(from, x);
    for (int i = 0; i < V::lanes; ++i) p[i] = narrowed(from[i]);
  }
};

/// K-groups of two i16 from i8 or u8, which may come as bytes of the other type: see pack_groups.
template <class V, class Element, class Source = Element>
struct PairsOf {
  using source = Source;
  static constexpr bool unconverted = false, rows_together = false;
  static std::uint16_t wide(Source x) {
    return static_cast<std::uint16_t>(static_cast<std::int16_t>(static_cast<Element>(x)));
  }
  static std::uint32_t k_group(const Source (&part)[2]) {
    return wide(part[0]) | static_cast<std::uint32_t>(wide(part[1])) << 16;
  }
};

}  // namespace

}  // namespace tessera::cpu
