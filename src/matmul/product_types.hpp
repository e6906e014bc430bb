// The pairs of element types of base/products.inc as lists of types, by what multiplies them.
#pragma once

#include <type_traits>

#include "tessera/core/dtype.hpp"

namespace tessera::detail {

/// A and B of In, C of Out.
template <class In, class Out>
struct TypePair {};

template <class... Lists>
struct Joined;
template <class... Ts>
struct Joined<TypeList<Ts...>> {
  using type = TypeList<Ts...>;
};
template <class... As, class... Bs, class... Lists>
struct Joined<TypeList<As...>, TypeList<Bs...>, Lists...>
    : Joined<TypeList<As..., Bs...>, Lists...> {};

/// What multiplies a pair: see base/products.inc.
enum class MultipliedBy { units, doubles, ladder, packed, bytes, f8 };

/// The pairs of the list that one of these multiplies.
template <MultipliedBy... Wanted>
struct ProductsBy {
  template <MultipliedBy By, class In, class Out>
  using Row = std::conditional_t<((By == Wanted) || ...), TypeList<TypePair<In, Out>>, TypeList<>>;
  using type = typename Joined<TypeList<>
#define TESSERA_PRODUCT(by, In, Out) , Row<MultipliedBy::by, In, Out>
#include "base/products.inc"
#undef TESSERA_PRODUCT
                               >::type;
};
template <MultipliedBy... Wanted>
using ProductsOf = typename ProductsBy<Wanted...>::type;

using UnitProducts = ProductsOf<MultipliedBy::units>;
using DoubleProducts = ProductsOf<MultipliedBy::doubles>;
using ByteProducts = ProductsOf<MultipliedBy::bytes>;
using NativeProducts = ProductsOf<MultipliedBy::units, MultipliedBy::doubles, MultipliedBy::ladder>;
using CpuProducts = ProductsOf<MultipliedBy::units, MultipliedBy::doubles, MultipliedBy::packed,
                               MultipliedBy::bytes>;
using EveryProduct = ProductsOf<MultipliedBy::units, MultipliedBy::doubles, MultipliedBy::ladder,
                                MultipliedBy::packed, MultipliedBy::bytes, MultipliedBy::f8>;
using WarpgroupProducts = ProductsOf<MultipliedBy::units, MultipliedBy::f8, MultipliedBy::bytes>;
using TensorCoreProducts =
    ProductsOf<MultipliedBy::units, MultipliedBy::doubles, MultipliedBy::bytes>;

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

/// body.template operator()<In, Out>() for this pair, which must be among `products`.
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
