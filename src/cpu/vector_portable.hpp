// Vectors in plain C++, for kernels/portable.cpp, and for operations that other instruction sets
// lack. Where the architecture has no fused multiply-add, the C library's is called: slow, but the
// same bits.
#pragma once

#include "make_kernels.hpp"

namespace tessera::cpu {

namespace {

template <class T, int Count>
struct PortableBase : Lanes<T, Count * sizeof(T)> {
  using Base = Lanes<T, Count * sizeof(T)>;
  using typename Base::type;
  static constexpr int lanes = Count, transposed = 0;
  static type splat(T x) {
    type out{};
    for (int i = 0; i < lanes; ++i) out[i] = x;
    return out;
  }
  static int first(int n) { return n; }
  static type load_first(const T* p, int n) {
    type out{};
    for (int i = 0; i < lanes; ++i) out[i] = p[i < n ? i : 0];
    return out;
  }
  static type fma(type a, type b, type c) {
    if constexpr (std::is_integral_v<T>) {
      return Base::add(Base::mul(a, b), c);
    } else {
      for (int i = 0; i < lanes; ++i) c[i] = fused(a[i], b[i], c[i]);
      return c;
    }
  }
  static type fma_first(int n, const T* p, const T* q, type acc) {
    for (int i = 0; i < n; ++i) acc[i] = fused(p[i], q[i], acc[i]);
    return acc;
  }
  template <int W>
  static type folded(type u, type v) {
    type out{};
    for (int i = 0; i < lanes; ++i) out[i] = (i & W) == 0 ? u[i] + u[i + W] : v[i - W] + v[i];
    return out;
  }
  static void store_first(T* p, int n, type x) {
    for (int i = 0; i < n; ++i) p[i] = x[i];
  }
  static void stream(T* p, type x) { Base::store(p, x); }
  static void transpose(void*, index_t, const void*, index_t) {}

 private:
  static T fused(T a, T b, T c) {
    if constexpr (sizeof(T) == 8) return __builtin_fma(a, b, c);
    else return __builtin_fmaf(a, b, c);
  }
};

/// Pairs of i16, multiplied and added into i32: exact for any i8 and u8.
template <int Count>
struct PortablePairs : PortableBase<std::int32_t, Count> {
  using type = typename PortableBase<std::int32_t, Count>::type;
  using k_group = std::uint32_t;
  using Unsigned = PortableBase<k_group, Count>;
  using operand = typename Unsigned::type;
  static constexpr int group = 2;
  static operand load_operand(const k_group* p) { return Unsigned::load(p); }
  static operand load_operand_first(const k_group* p, int n) { return Unsigned::load_first(p, n); }
  static operand broadcast(const k_group* p) { return Unsigned::splat(*p); }
  static type step(operand x, operand row, type acc) {
    const auto low = [](operand pairs) { return (operand)((type)(pairs << 16) >> 16); };
    const auto high = [](operand pairs) { return (operand)((type)pairs >> 16); };
    return (type)((operand)acc + low(x) * low(row) + high(x) * high(row));
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
  static constexpr bool in_vectors = false;  ///< quickly, with the CPU's own instructions
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

/// A of one type of bytes and B of another, or of the same; Source: what both are passed as.
template <class Set, class Source, class OfA = Source, class OfB = Source>
constexpr auto make_pairs_kernels() {
  using Pairs = typename Set::Pairs;
  return make_kernels<Pairs, Set::pairs_rows, Set::pairs_vectors, Source>(
      Set::pairs_isa, pack_groups<Pairs, PairsOf<Pairs, OfA, Source>>,
      pack_groups<Pairs, PairsOf<Pairs, OfB, Source>>);
}

/// The tables of an instruction set that has no instructions for products of bytes or 16 bits. Set:
/// F32, F64 and Pairs, of i16, the vector types; Half and Brain convert f16 and bf16; rows and
/// vectors of micro-tiles, and those of pairs.
template <class Set>
constexpr KernelSet make_kernel_set(const KernelsF32& f32, [[maybe_unused]] const KernelsF64& f64) {
  KernelSet out{};
  out.f32 = f32;
#if !defined(TESSERA_ONLY_DEMO)
  using F = typename Set::F32;
  using D = typename Set::F64;
  out.f64 = f64;
  out.f16 = make_converted_kernels<F, Set::rows, Set::vectors, typename Set::Half>(f32.isa);
  out.bf16 = make_converted_kernels<F, Set::rows, Set::vectors, typename Set::Brain>(f32.isa);
  out.i8 = make_pairs_kernels<Set, std::int8_t>();
  out.u8 = make_pairs_kernels<Set, std::uint8_t>();
  out.u8i8 = make_pairs_kernels<Set, std::uint8_t, std::uint8_t, std::int8_t>();
  out.i8u8 = make_pairs_kernels<Set, std::uint8_t, std::int8_t, std::uint8_t>();
  out.c32 = complex_kernels<F, D>(f32);
  out.c64 = complex_kernels<D, D>(f64);
#endif
  return out;
}

/// Whose tables of f32 and f64 are nothing but micro-tiles.
template <class Set>
constexpr KernelSet make_plain_kernel_set(const char* isa) {
  using F = typename Set::F32;
  using D = typename Set::F64;
  return make_kernel_set<Set>(
      make_kernels<F, Set::rows, Set::vectors, float>(isa, pack_panels<F>, pack_panels<F>),
      make_kernels<D, Set::rows, Set::vectors, double>(isa, pack_panels<D>, pack_panels<D>));
}

}  // namespace

}  // namespace tessera::cpu
