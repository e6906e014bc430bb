// A tensor in equal parts along one mode. split<4, 1>(t) gives all 4 parts along mode 1, of one
// type: `auto [left, right] = split<2, 1>(t)`. split<1>(t, count, index) gives one part, both
// numbers known at run time. The parts have ceil(extent / count) positions; where count does not
// divide the extent, the last ones are shorter or empty.
#pragma once

#include <array>

#include "tessera/tensor/assemble.hpp"
#include "tessera/tensor/refused.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

namespace detail {

/// The pattern of one of `count` parts along a mode; the extent is dynamic where `count` is.
constexpr Layout part_pattern(const Layout& layout, int mode, index_t count) {
  const index_t extent = layout.shape.leaf(mode);
  const index_t part = extent == dynamic || count == dynamic ? dynamic : ceil_div(extent, count);
  return {layout.shape.with_leaf(mode, part), layout.stride};
}

/// Positions begin .. begin + length of mode Mode. `Exact`: all of them exist if t is not clipped.
template <Layout Pattern, int Mode, bool Exact, class T>
TESSERA_HD constexpr auto part_of(const T& t, index_t begin, index_t length) {
  const auto edge = [&] {
    if constexpr (Exact && !T::is_clipped) return Whole{};
    else {
      return clipped_by<T::rank>([&](auto m) {
        if constexpr (m == Mode) return clamp_to(t.template valid<m>() - begin, length);
        else return t.template valid<m>();
      });
    }
  }();
  return assemble<Pattern>(
      t.data() + begin * t.template stride<Mode>(), edge,
      [&](auto m) {
        if constexpr (m == Mode) return length;
        else return t.template shape_leaf<m>();
      },
      [&](auto m) { return t.template stride_leaf<m>(); });
}

template <class T, int Mode>
constexpr void require_splittable() {
  static_assert(Mode >= 0 && Mode < T::rank, "split: the tensor has no such mode");
  static_assert(is_flat(T::pattern), "only a tensor without nested modes is split: coalesce it");
}

}  // namespace detail

/// All Count parts of t along mode Mode.
template <int Count, int Mode, class P, Layout L, class E>
TESSERA_HD constexpr auto split(const Tensor<P, L, E>& t) {
  static_assert(Count > 0, "split<count, mode>: the count is positive");
  detail::require_splittable<Tensor<P, L, E>, Mode>();
  constexpr index_t extent = L.shape.leaf(Mode);
  constexpr bool even = extent != dynamic && extent % Count == 0;
  constexpr Layout pattern = detail::part_pattern(L, Mode, Count);
  const index_t length = ceil_div(t.template extent<Mode>(), Count);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return std::array{detail::part_of<pattern, Mode, even>(t, I * length, length)...};
  }
  (std::make_integer_sequence<int, Count>{});
}

/// Part number `part` of `count` parts of t along mode Mode.
template <int Mode, class P, Layout L, class E>
TESSERA_HD constexpr auto split(const Tensor<P, L, E>& t, index_t count, index_t part) {
  detail::require_splittable<Tensor<P, L, E>, Mode>();
  detail::require_part(part, count);
  constexpr Layout pattern = detail::part_pattern(L, Mode, dynamic);
  const index_t extent = t.template extent<Mode>();
  const index_t each = ceil_div(extent, count);
  const index_t begin = part * each < extent ? part * each : extent;
  const index_t length = extent - begin < each ? extent - begin : each;
  return detail::part_of<pattern, Mode, true>(t, begin, length);
}

}  // namespace tessera
