#include "tessera/ops/block_order.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace tessera {
namespace {

TileAt tile_of(int block, Dim3 grid) { return grouped_block(position_of(block, grid), grid); }

RC_GTEST_PROP(BlockOrder, EveryTileComesOnce, ()) {
  const Dim3 grid{*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 40)};
  std::set<std::pair<int, int>> seen;
  for (int block = 0; block < volume(grid); ++block) {
    const TileAt at = tile_of(block, grid);
    RC_ASSERT(at.row >= 0 && at.row < grid.y && at.col >= 0 && at.col < grid.x);
    RC_ASSERT(seen.insert({at.row, at.col}).second);
  }
}

TEST(BlockOrder, GoesDownEightRowsThenToTheNextColumn) {
  const Dim3 grid{3, 10};
  EXPECT_EQ(tile_of(0, grid), (TileAt{0, 0}));
  EXPECT_EQ(tile_of(7, grid), (TileAt{7, 0}));
  EXPECT_EQ(tile_of(8, grid), (TileAt{0, 1}));
  EXPECT_EQ(tile_of(24, grid), (TileAt{8, 0}));  // the last group has two rows
  EXPECT_EQ(tile_of(25, grid), (TileAt{9, 0}));
  EXPECT_EQ(tile_of(26, grid), (TileAt{8, 1}));
}

/// What its documentation says: tiles of A and of B that 128 blocks at a time read for each k.
TEST(BlockOrder, BlocksThatRunTogetherShareRowsAndColumns) {
  const Dim3 grid{128, 128};
  std::set<int> rows, cols;
  for (int block = 0; block < 128; ++block) {
    rows.insert(tile_of(block, grid).row);
    cols.insert(tile_of(block, grid).col);
  }
  EXPECT_EQ(rows.size(), 8u);
  EXPECT_EQ(cols.size(), 16u);
}

}  // namespace
}  // namespace tessera
