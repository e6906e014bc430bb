// Which element types have a product: the one list that kernels, the packed path, verification and
// the command read. A new pair is one row, in the list of the algorithms that multiply it.
#pragma once

#include <type_traits>

#include "tessera/core/dtype.hpp"

namespace tessera::detail {

/// A and B of In, C of Out.
template <class In, class Out>
struct TypePair {};

#if defined(TESSERA_ONLY_DEMO)
using UnitProducts = TypeList<TypePair<float, float>>;
using DoubleProducts = TypeList<>;
using LadderProducts = TypeList<>;
using PackedProducts = TypeList<>;
using F8Products = TypeList<>;
using ByteProducts = TypeList<>;
#else
/// Multiplied by every kernel with matrix units, by the others of the ladder and by the packed
/// path.
using UnitProducts = TypeList<TypePair<float, float>, TypePair<f16, f16>, TypePair<f16, float>,
                              TypePair<bf16, bf16>, TypePair<bf16, float>>;
/// The same, but only `tensor_core` has units for it.
using DoubleProducts = TypeList<TypePair<double, double>>;
/// Multiplied by every kernel of the ladder that has no units.
using LadderProducts = TypeList<TypePair<std::int32_t, std::int32_t>>;
/// Multiplied by the packed path. A and B may be bytes of different sign: see is_byte.
using PackedProducts =
    TypeList<TypePair<float, f16>, TypePair<float, bf16>, TypePair<std::int8_t, std::int32_t>,
             TypePair<std::int8_t, float>, TypePair<std::uint8_t, std::int32_t>,
             TypePair<std::uint8_t, float>>;
/// Multiplied by `warpgroup` alone.
using F8Products = TypeList<TypePair<f8e4m3, float>, TypePair<f8e5m2, float>>;
/// Multiplied by `tensor_core`, `warpgroup` and the packed path.
using ByteProducts =
    TypeList<TypePair<std::int8_t, std::int32_t>, TypePair<std::uint8_t, std::int32_t>>;
#endif

template <class... Lists>
struct Joined;
template <class... Ts>
struct Joined<TypeList<Ts...>> {
  using type = TypeList<Ts...>;
};
template <class... As, class... Bs, class... Lists>
struct Joined<TypeList<As...>, TypeList<Bs...>, Lists...>
    : Joined<TypeList<As..., Bs...>, Lists...> {};

using NativeProducts = Joined<UnitProducts, DoubleProducts, LadderProducts>::type;
using CpuProducts = Joined<UnitProducts, DoubleProducts, PackedProducts>::type;
using EveryProduct = Joined<NativeProducts, PackedProducts, F8Products>::type;
using WarpgroupProducts = Joined<UnitProducts, F8Products, ByteProducts>::type;
using TensorCoreProducts = Joined<UnitProducts, DoubleProducts, ByteProducts>::type;

template <class Done, class... Ts>
struct EachOnce;
template <class... Done>
struct EachOnce<TypeList<Done...>> {
  using type = TypeList<Done...>;
};
template <class... Done, class T, class... Ts>
struct EachOnce<TypeList<Done...>, T, Ts...>
    : EachOnce<std::conditional_t<(std::is_same_v<T, Done> || ...), TypeList<Done...>,
                                  TypeList<Done..., T>>,
               Ts...> {};
template <class... In, class... Out>
constexpr auto types_of(TypeList<TypePair<In, Out>...>) {
  return typename EachOnce<TypeList<>, In..., Out...>::type{};
}
/// The types of A, B or C of some product.
using ProductTypes = decltype(types_of(EveryProduct{}));

template <class... In, class... Out>
constexpr bool is_among(DType in, DType out, TypeList<TypePair<In, Out>...>) {
  return ((in == dtype_of<In>() && out == dtype_of<Out>()) || ...);
}

/// Element types that every kernel of the ladder multiplies, in the accumulator's arithmetic.
constexpr bool has_native_product(DType in, DType out) {
  return is_among(in, out, NativeProducts{});
}
/// Element types that every kernel with matrix units multiplies.
constexpr bool has_unit_product(DType in, DType out) { return is_among(in, out, UnitProducts{}); }
/// Element types that `warpgroup` multiplies.
constexpr bool has_warpgroup_product(DType in, DType out) {
  return is_among(in, out, WarpgroupProducts{});
}
/// Element types that `tensor_core` multiplies.
constexpr bool has_tensor_core_product(DType in, DType out) {
  return is_among(in, out, TensorCoreProducts{});
}
/// Element types of the packed path.
constexpr bool has_cpu_product(DType in, DType out) { return is_among(in, out, CpuProducts{}); }
/// Element types that some algorithm multiplies.
constexpr bool has_product(DType in, DType out) { return is_among(in, out, EveryProduct{}); }

/// body.template operator()<In, Out>() for the pair among `products`, which it is.
template <class In, class Out, class... Rest, class Body>
decltype(auto) visit_products(DType in, DType out, TypeList<TypePair<In, Out>, Rest...>,
                              const Body& body) {
  if constexpr (sizeof...(Rest) == 0) {
    return body.template operator()<In, Out>();
  } else {
    if (in == dtype_of<In>() && out == dtype_of<Out>()) return body.template operator()<In, Out>();
    return visit_products(in, out, TypeList<Rest...>{}, body);
  }
}
/// body.template operator()<In, Out>() for a pair that has_native_product.
template <class Body>
decltype(auto) visit_product(DType in, DType out, const Body& body) {
  return visit_products(in, out, NativeProducts{}, body);
}
/// The same for a pair that has_unit_product.
template <class Body>
decltype(auto) visit_unit_product(DType in, DType out, const Body& body) {
  return visit_products(in, out, UnitProducts{}, body);
}
/// The same for a pair that has_warpgroup_product.
template <class Body>
decltype(auto) visit_warpgroup_product(DType in, DType out, const Body& body) {
  return visit_products(in, out, WarpgroupProducts{}, body);
}
/// The same for a pair that has_tensor_core_product.
template <class Body>
decltype(auto) visit_tensor_core_product(DType in, DType out, const Body& body) {
  return visit_products(in, out, TensorCoreProducts{}, body);
}

/// body(TypeTag<T>{}) with the C++ type of `type`; false where that is not the type of a product.
template <class Body, class... Ts>
bool visit_product_type(DType type, const Body& body, TypeList<Ts...>) {
  return ((type == dtype_of<Ts>() && (body(TypeTag<Ts>{}), true)) || ...);
}
template <class Body>
bool visit_product_type(DType type, const Body& body) {
  return visit_product_type(type, body, ProductTypes{});
}

}  // namespace tessera::detail
