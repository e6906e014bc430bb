// Tiles that are known to be inside their matrix and to be readable in vectors. For loops in which
// one such test holds for many tiles.
#pragma once

#include "tessera/ops/copy_with.hpp"

namespace tessera {

/// Does all of this tile exist, and may Width neighbours along its rows be accessed together? The
/// second also holds for other tiles at offsets that are multiples of Width.
template <int Width, AnyTensor T>
TESSERA_HD constexpr bool is_whole(const T& tile) {
  static_assert(T::rank == 2 && detail::may_vectorize_last<T, Width>(),
                "is_whole<width>: a tile of two modes, whose columns are a multiple of the width");
  return tile.is_full() && detail::can_vectorize_last<Width>(tile);
}

/// A tile that is_whole: (R,C) as (R,C/Width) vectors, not clipped, and contiguous along the rows,
/// by its type.
template <int Width, class P, Layout L, class E>
TESSERA_HD constexpr auto whole_vectors(const Tensor<P, L, E>& tile) {
  return detail::vectorize_last<Width>(
      detail::with_unit_stride(Tensor<P, L, Whole>(tile.data(), tile.values(), Whole{})));
}

/// May Width neighbours along the rows of this matrix move together, up to its edge?
template <int Width, AnyTensor T>
TESSERA_HD constexpr bool moves_in_vectors(const T& matrix) {
  static_assert(T::rank == 2, "moves_in_vectors<width>: a matrix, or a tile of one");
  if constexpr (!detail::may_vectorize_last<T, Width>()) return false;
  else return detail::can_vectorize_last<Width>(matrix);
}

/// A tile of such a matrix, which may reach across its edge: (R,C) as (R,C/Width) vectors.
template <int Width, AnyTensor T>
TESSERA_HD constexpr auto vectors(const T& tile) {
  return detail::vectorize_last<Width>(detail::with_unit_stride(tile));
}

}  // namespace tessera
