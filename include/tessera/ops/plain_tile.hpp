// PlainTile: the destination of bulk copies for threads that read the tile themselves: contiguous
// along mn as in global memory, without a swizzle. See ops/bulk.hpp.
#pragma once

#include "tessera/ops/bulk.hpp"

namespace tessera {

/// A tile (mn,k) in shared memory.
template <class T, int Rows, int Cols>
struct alignas(128) TESSERA_CHECKED_SYMBOL PlainTile {
  using element = T;
  static constexpr Layout layout{tuple(Rows, Cols), tuple(1, Rows)};
  static constexpr SwizzleMode mode = SwizzleMode::none;
  static constexpr Major major = Major::mn;
  static constexpr int rows = Rows, cols = Cols, bytes = Rows * Cols * static_cast<int>(sizeof(T));

  T elements[static_cast<std::size_t>(Rows) * Cols];

  TESSERA_HD constexpr auto view() {
    detail::tell_tile(*this);
    return Tensor<T*, layout>(elements);
  }
};

/// One box fills it.
template <class T, int Rows, int Cols>
struct BulkBox<PlainTile<T, Rows, Cols>> {
  static constexpr bool is_k_major = false;
  static constexpr int most = 256, rows = Rows, cols = Cols, down = 1, across = 1;
  static_assert(Rows <= most && Cols <= most, "PlainTile: a box has at most 256 x 256 elements");
};

}  // namespace tessera
