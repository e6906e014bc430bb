// tile<16, 16>(A, i, j): the view of one tile of a tensor, counted in tiles. A tile that reaches
// past the border is clipped: it knows how much of it exists, so that copies can fill and stores
// can skip what is outside.
#pragma once

#include "tessera/tensor/refused.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera {

namespace detail {
/// A tensor, or a type with the same members (ops/epilogue.hpp).
template <class T>
concept HasModes = requires(const T& t) {
  t.template valid<0>();
};
}  // namespace detail

/// extent<1>(A): the nominal extent of a mode, as kernel text says it.
template <int Mode, detail::HasModes T>
TESSERA_HD constexpr index_t extent(const T& t) {
  return t.template extent<Mode>();
}
/// valid<1>(A): how much of the mode exists.
template <int Mode, detail::HasModes T>
TESSERA_HD constexpr index_t valid(const T& t) {
  return t.template valid<Mode>();
}
/// Tiles of `size` that cover mode Mode: 0 for an empty mode.
template <int Mode, detail::HasModes T>
TESSERA_HD constexpr index_t tiles(const T& t, index_t size) {
  return ceil_div(t.template valid<Mode>(), size);
}

namespace detail {

/// Can no tile of these sizes be cut by the border? Decided by the types alone.
template <class T, index_t... Sizes>
constexpr bool tiles_are_whole() {
  if (T::is_clipped) return false;
  const index_t sizes[] = {Sizes...};
  for (int i = 0; i < T::rank; ++i) {
    const index_t extent = T::pattern.shape.leaf(i);
    if (extent == dynamic || extent % sizes[i] != 0) return false;
  }
  return true;
}

}  // namespace detail

/// Tile number (coordinates...) of the given sizes. Shape (Sizes...), strides of the tensor;
/// clipped at the border, and empty beyond it and before 0. Where the types say that every tile is
/// whole, a tile that does not exist throws Error(shape) on the CPU.
template <index_t... Sizes, class P, Layout L, class E, class... I>
TESSERA_HD constexpr auto tile(const Tensor<P, L, E>& t, I... coordinates) {
  using T = Tensor<P, L, E>;
  static_assert(sizeof...(Sizes) == T::rank,
                "tile<...> takes one size for each mode of the tensor");
  static_assert(sizeof...(I) == T::rank,
                "tile takes one tile coordinate for each mode of the tensor");
  static_assert(((Sizes > 0) && ...), "the sizes of a tile are positive");
  static_assert(L.shape.leaves() == T::rank,
                "only a tensor without nested modes is cut into tiles: coalesce it first");
  constexpr Layout pattern{tuple(Sizes...), L.stride};
  const auto start = [&]<int... M>(std::integer_sequence<int, M...>) {
    return ((static_cast<index_t>(coordinates) * Sizes * t.template stride<M>()) + ... +
            index_t{0});
  }
  (std::make_integer_sequence<int, T::rank>{});
  constexpr int strides = detail::count_dynamic(L.stride);
  detail::DynamicValues<strides> values{};
  if constexpr (strides > 0) {
    for (int i = 0; i < strides; ++i) values.v[i] = t.values().v[T::dynamic_shapes + i];
  }
  if constexpr (detail::tiles_are_whole<T, Sizes...>()) {
    [&]<int... M>(std::integer_sequence<int, M...>) {
      (detail::require_tile(static_cast<index_t>(coordinates), L.shape.leaf(M) / Sizes, M), ...);
    }
    (std::make_integer_sequence<int, T::rank>{});
    return Tensor<P, pattern, Whole>(t.data() + start, values, Whole{});
  } else {
    const auto valid = [](index_t extent, index_t position, index_t size) {
      const index_t rest = extent - position * size;
      return rest < 0 || position < 0 ? 0 : rest < size ? rest : size;
    };
    const auto edge = [&]<int... M>(std::integer_sequence<int, M...>) {
      return Clipped<T::rank>{
          {valid(t.template valid<M>(), static_cast<index_t>(coordinates), Sizes)...}};
    }
    (std::make_integer_sequence<int, T::rank>{});
    return Tensor<P, pattern, Clipped<T::rank>>(t.data() + start, values, edge);
  }
}

}  // namespace tessera
