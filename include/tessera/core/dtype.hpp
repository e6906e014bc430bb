// Element types: the C++ types a tensor may hold, their run-time names, and the type each
// accumulates in.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
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

template <class T>
struct TypeTag {
  using type = T;
};
template <class... Ts>
struct TypeList {};

/// Run-time name of an element type. Files may hold all of them; Algorithm::supports says which
/// pairs have a product. A new type is appended here and to the two lists below.
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

/// The C++ types, in the order of DType.
using ElementTypes =
    TypeList<double, float, f16, bf16, f8e4m3, f8e5m2, std::int8_t, std::uint8_t, std::int16_t,
             std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, bool>;

namespace detail {

/// Is T the element type E? Integers of one width are one type: long and long long.
template <class T, class E>
constexpr bool is_element() {
  constexpr bool integers = std::is_integral_v<T> && std::is_integral_v<E>;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<E, bool> || !integers)
    return std::is_same_v<T, E>;
  else return sizeof(T) == sizeof(E) && std::is_signed_v<T> == std::is_signed_v<E>;
}

/// The index of T among Es; their number where it is none of them.
template <class T, class... Es>
constexpr std::size_t index_in(TypeList<Es...>) {
  std::size_t index = 0;
  (void)((is_element<T, Es>() || (++index, false)) || ...);
  return index;
}

template <class... Es>
constexpr std::size_t count_of(TypeList<Es...>) {
  return sizeof...(Es);
}

template <class First, class... Rest, class Body>
constexpr decltype(auto) visit_at(std::size_t index, TypeList<First, Rest...>, Body&& body) {
  if constexpr (sizeof...(Rest) == 0) {
    return body(TypeTag<First>{});
  } else {
    if (index == 0) return body(TypeTag<First>{});
    return visit_at(index - 1, TypeList<Rest...>{}, body);
  }
}

}  // namespace detail

struct ElementTypeNames {
  std::string_view name;
  std::string_view numpy;        ///< of NumPy and ml_dtypes
  std::string_view safetensors;  ///< in its headers
};

inline constexpr std::size_t kElementTypeCount = detail::count_of(ElementTypes{});

/// What the types are called, in the order of DType.
inline constexpr std::array<ElementTypeNames, kElementTypeCount> kElementTypes = {{
    {"f64", "float64", "F64"},
    {"f32", "float32", "F32"},
    {"f16", "float16", "F16"},
    {"bf16", "bfloat16", "BF16"},
    {"f8e4m3", "float8_e4m3fn", "F8_E4M3"},
    {"f8e5m2", "float8_e5m2", "F8_E5M2"},
    {"i8", "int8", "I8"},
    {"u8", "uint8", "U8"},
    {"i16", "int16", "I16"},
    {"u16", "uint16", "U16"},
    {"i32", "int32", "I32"},
    {"u32", "uint32", "U32"},
    {"i64", "int64", "I64"},
    {"u64", "uint64", "U64"},
    {"bool", "bool_", "BOOL"},
}};

constexpr std::string_view name(DType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < kElementTypeCount ? kElementTypes[i].name : "no element type";
}
inline std::string to_string(DType type) { return std::string(name(type)); }

/// Calls `body(TypeTag<T>{})` with the C++ type of `type`.
template <class Body>
constexpr decltype(auto) visit_dtype(DType type, Body&& body) {
  return detail::visit_at(static_cast<std::size_t>(type), ElementTypes{}, body);
}

/// Bytes of one element.
constexpr int size_of(DType type) {
  return visit_dtype(type, []<class T>(TypeTag<T>) { return static_cast<int>(sizeof(T)); });
}

/// Floating point, not an integer and not bool.
constexpr bool is_floating(DType type) {
  return visit_dtype(type, []<class T>(TypeTag<T>) { return !std::is_integral_v<T>; });
}

/// The type that NumPy or ml_dtypes calls `text`; none where that is no element type.
constexpr std::optional<DType> dtype_of_numpy(std::string_view text) {
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    if (kElementTypes[i].numpy == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// "f64, f32, ...": the names of all, for messages and pages.
inline std::string element_type_names(std::string_view between = ", ") {
  std::string out;
  for (const auto& each : kElementTypes) out.append(out.empty() ? "" : between).append(each.name);
  return out;
}

/// The type named `text`; NumPy's names (float32, int8, bfloat16, ...) are understood too.
/// Throws Error(type) that lists the known names.
inline DType parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    if (kElementTypes[i].name == text) return static_cast<DType>(i);
  }
  if (const auto known = dtype_of_numpy(text)) return *known;
  throw Error(Category::type, cat("unknown element type '", text, "'"),
              "one of " + element_type_names());
}

/// The run-time name of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  constexpr std::size_t index = detail::index_in<std::remove_cv_t<T>>(ElementTypes{});
  static_assert(index < kElementTypeCount,
                "this C++ type is not an element type of Tessera: use one of double, float, "
                "f16, bf16, f8e4m3, f8e5m2, bool or a fixed-width integer");
  return static_cast<DType>(index);
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
