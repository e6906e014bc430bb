// Element types: the C++ types a tensor may hold, their run-time names, and the type each
// accumulates in.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tessera/core/config.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/small_float.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

/// Run-time name of an element type. Files may hold all of them; kernels take f64, f32, f16, bf16
/// and i32.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean
};

inline constexpr std::array<std::string_view, 15> kDTypeNames = {
    "f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8",  "u8",
    "i16", "u16", "i32", "u32",  "i64",    "u64",    "bool"};

constexpr std::string_view name(DType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < kDTypeNames.size() ? kDTypeNames[i] : "no element type";
}
inline std::string to_string(DType type) { return std::string(name(type)); }

/// Bytes of one element.
constexpr int size_of(DType type) {
  constexpr std::array<int, 15> bytes = {8, 4, 2, 2, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return bytes[static_cast<std::size_t>(type)];
}

/// The type named `text`; NumPy's names (float32, int8, bfloat16, ...) are understood too.
/// Throws Error(type) that lists the known names.
inline DType parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == text) return static_cast<DType>(i);
  }
  constexpr std::array<std::string_view, 15> numpy = {
      "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8",
      "int16",   "uint16",  "int32",   "uint32",   "int64",         "uint64",      "bool_"};
  for (std::size_t i = 0; i < numpy.size(); ++i) {
    if (numpy[i] == text) return static_cast<DType>(i);
  }
  std::string known;
  for (auto each : kDTypeNames) known += (known.empty() ? "" : ", ") + std::string(each);
  throw Error(Category::type, cat("unknown element type '", text, "'"), "one of " + known);
}

/// The run-time name of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, double>) return DType::f64;
  else if constexpr (std::is_same_v<U, float>) return DType::f32;
  else if constexpr (std::is_same_v<U, f16>) return DType::f16;
  else if constexpr (std::is_same_v<U, bf16>) return DType::bf16;
  else if constexpr (std::is_same_v<U, f8e4m3>) return DType::f8e4m3;
  else if constexpr (std::is_same_v<U, f8e5m2>) return DType::f8e5m2;
  else if constexpr (std::is_same_v<U, bool>) return DType::boolean;
  else {
    static_assert(std::is_integral_v<U>,
                  "this C++ type is not an element type of Tessera: use one of double, float, "
                  "f16, bf16, f8e4m3, f8e5m2, bool or a fixed-width integer");
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? DType::i8 : DType::u8;
    else if constexpr (sizeof(U) == 2) return is_signed ? DType::i16 : DType::u16;
    else if constexpr (sizeof(U) == 4) return is_signed ? DType::i32 : DType::u32;
    else return is_signed ? DType::i64 : DType::u64;
  }
}

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls `body(TypeTag<T>{})` with the C++ type of `type`.
template <class Body>
decltype(auto) visit_dtype(DType type, Body&& body) {
  switch (type) {
    case DType::f64: return body(TypeTag<double>{});
    case DType::f32: return body(TypeTag<float>{});
    case DType::f16: return body(TypeTag<f16>{});
    case DType::bf16: return body(TypeTag<bf16>{});
    case DType::f8e4m3: return body(TypeTag<f8e4m3>{});
    case DType::f8e5m2: return body(TypeTag<f8e5m2>{});
    case DType::i8: return body(TypeTag<std::int8_t>{});
    case DType::u8: return body(TypeTag<std::uint8_t>{});
    case DType::i16: return body(TypeTag<std::int16_t>{});
    case DType::u16: return body(TypeTag<std::uint16_t>{});
    case DType::i32: return body(TypeTag<std::int32_t>{});
    case DType::u32: return body(TypeTag<std::uint32_t>{});
    case DType::i64: return body(TypeTag<std::int64_t>{});
    case DType::u64: return body(TypeTag<std::uint64_t>{});
    default: return body(TypeTag<bool>{});
  }
}

/// The type in which products of T are summed: f16, bf16 and f8 in f32, small integers in i32.
template <class T>
struct AccumulatorOf {
  using type = T;
};
template <int E, int M, class B, bool F>
struct AccumulatorOf<SmallFloat<E, M, B, F>> {
  using type = float;
};
template <>
struct AccumulatorOf<std::int8_t> {
  using type = std::int32_t;
};
template <>
struct AccumulatorOf<std::uint8_t> {
  using type = std::int32_t;
};
template <class T>
using Accumulator = typename AccumulatorOf<std::remove_cv_t<T>>::type;

namespace detail {

/// acc + a * b with a single rounding.
template <class A, class B, class C>
TESSERA_HD constexpr C multiply_add(A a, B b, C acc) {
  if constexpr (std::is_floating_point_v<C>) {
#if defined(__CUDA_ARCH__)
    return ::fma(static_cast<C>(a), static_cast<C>(b), acc);
#else
    if constexpr (sizeof(C) == 4) return __builtin_fmaf(static_cast<C>(a), static_cast<C>(b), acc);
    else return __builtin_fma(static_cast<C>(a), static_cast<C>(b), acc);
#endif
  } else {
    using U = std::make_unsigned_t<C>;
    return static_cast<C>(static_cast<U>(acc) + static_cast<U>(a) * static_cast<U>(b));
  }
}

}  // namespace detail

/// One step of a dot product, acc + a * b with a single rounding; integers wrap modulo 2^32.
/// Written out everywhere, so that every kernel and every machine rounds alike.
template <class A, class B, class C>
TESSERA_CHECKED_SYMBOL TESSERA_HD constexpr C fma(A a, B b, C acc,
                                                  [[maybe_unused]] Here here = Here::current()) {
#if TESSERA_CHECK
  if (!std::is_constant_evaluated() && detail::recorder != nullptr)
    detail::recorder->multiply_add(
        sizeof acc < 4 || detail::bits_of(acc) != detail::unwritten_bits<C>(), here);
#endif
  return detail::multiply_add(a, b, acc);
}
template <class A, class B, class C>
requires(kIsRecorded<A> || kIsRecorded<B> || kIsRecorded<C>) TESSERA_HD
    constexpr auto fma(A a, B b, C acc, Here here = Here::current()) {
  return fma(detail::plain(std::move(a)), detail::plain(std::move(b)),
             detail::plain(std::move(acc)), here);
}

/// Converts between element types: floating point rounds to nearest even; floating point to integer
/// truncates as C++ does, but saturates at the ends and gives 0 for NaN; integers wrap.
template <class To, class From>
TESSERA_HD constexpr To convert(From value) {
  if constexpr (std::is_same_v<To, From>) return value;
  else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const double wide = static_cast<double>(value);
    if (wide != wide) return To{};
    if constexpr (std::is_same_v<To, bool>) return wide != 0;
    else {
      using Limits = std::numeric_limits<To>;
      // 2^digits is exact in f64, max() need not be.
      if (wide >= 2.0 * static_cast<double>(Limits::max() / 2 + 1)) return Limits::max();
      if (wide <= static_cast<double>(Limits::min())) return Limits::min();
      return static_cast<To>(wide);
    }
  } else if constexpr (std::is_class_v<To> && std::is_class_v<From>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}
template <class To, class From>
requires kIsRecorded<From> TESSERA_HD constexpr To convert(From value) {
  return convert<To>(value.load());
}

}  // namespace tessera
