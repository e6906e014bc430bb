// Builds views: the pattern of the new layout is a constant, and only its dynamic numbers are
// computed at run time. Used by the views of this folder; not for kernels.
#pragma once

#include "tessera/tensor/tensor.hpp"

namespace tessera::detail {

template <int I>
using LeafNumber = std::integral_constant<int, I>;

/// A tensor of pattern `New` over `data`. `shape_leaf` and `stride_leaf` are called with the number
/// of a leaf (an integral constant) for each leaf of `New` that is unknown.
template <Layout New, class P, class E, class ShapeLeaf, class StrideLeaf>
TESSERA_HD constexpr auto assemble(P data, E edge, [[maybe_unused]] ShapeLeaf shape_leaf,
                                   [[maybe_unused]] StrideLeaf stride_leaf) {
  using T = Tensor<P, New, E>;
  typename T::Values values{};
  if constexpr (T::dynamic_count > 0) {
    const auto put = [&]<int I>(LeafNumber<I> leaf) {
      if constexpr (New.shape.leaf(I) == dynamic)
        values.v[count_dynamic_before(New.shape, I)] = shape_leaf(leaf);
      if constexpr (New.stride.leaf(I) == dynamic)
        values.v[T::dynamic_shapes + count_dynamic_before(New.stride, I)] = stride_leaf(leaf);
      (void)leaf;
    };
    [&]<int... I>(std::integer_sequence<int, I...>) { (put(LeafNumber<I>{}), ...); }
    (std::make_integer_sequence<int, New.shape.leaves()>{});
  }
  return T(data, values, edge);
}

/// Calls body(LeafNumber<0>{}) ... body(LeafNumber<N - 1>{}).
template <int N, class Body>
TESSERA_HD constexpr void for_each_number(Body&& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (body(LeafNumber<I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// make(LeafNumber<0>{}), ..., as the edge of a clipped tensor.
template <int Rank, class Make>
TESSERA_HD constexpr Clipped<Rank> clipped_by(Make&& make) {
  Clipped<Rank> out{};
  for_each_number<Rank>([&](auto m) { out.valid[m] = make(m); });
  return out;
}

/// The first leaf of each mode is unique when no mode nests.
constexpr bool is_flat(const Layout& layout) { return layout.shape.leaves() == layout.rank(); }

/// value, but not below 0 and not above `most`.
TESSERA_HD constexpr index_t clamp_to(index_t value, index_t most) {
  return value < 0 ? 0 : value < most ? value : most;
}

/// a * b where neither is unknown; else unknown.
constexpr index_t times(index_t a, index_t b) {
  return a == dynamic || b == dynamic ? dynamic : a * b;
}

}  // namespace tessera::detail
