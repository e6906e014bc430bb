// The order in which the blocks of a grid compute the tiles of C (rasterization). The hardware
// starts blocks by their number; blocks that run at the same time should share rows of A and
// columns of B, so that they hit in L2.
#pragma once

#include "tessera/simt/dim3.hpp"

namespace tessera {

/// The tile of C.
struct TileAt {
  int row, col;
  constexpr bool operator==(const TileAt&) const = default;
};

/// Of a grid of grid.y rows and grid.x columns of tiles: down `Group` rows, then the next column,
/// then the next group. Each tile occurs exactly once. Concurrent blocks then read few rows of A
/// and columns of B: 128 blocks in groups of 8 read 8 + 16 tiles for each k; in row order 1 or 2 +
/// 128.
template <int Group = 8>
TESSERA_HD constexpr TileAt grouped_block(Position block, Dim3 grid) {
  const int group = block.linear / grid.x / Group, first = group * Group;
  const int left = grid.y - first, rows = left < Group ? left : Group;
  const int rest = block.linear - first * grid.x;
  return {first + rest % rows, rest / rows};
}

}  // namespace tessera
