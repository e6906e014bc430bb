// The expected time of products of `warpgroup` and `thin` on Hopper: how many tiles of C there are
// for each multiprocessor, and how long one takes. By it the default choice takes the tile of a
// group and the parts of K. Private to src/matmul.
#pragma once

#include <span>
#include <string_view>

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::detail {

/// Products in one launch, and parts of K.
inline constexpr int kMostTogether = 32;
inline constexpr int kHopperMultiprocessors = 132;

/// The tiles that are compiled for groups.
std::span<const TileShape> group_tiles(DType in);

/// K of each part but the last: whole tiles along K, as even as possible.
index_t part_of_k(const Problem& p, int parts);

/// Bytes for what the parts of K leave: their sums, one (M,N) after another.
index_t bytes_of_parts(const Problem& p, int parts);

/// Of `three_bf16`: the depth of a plane of an operand, and bytes of all three, for so many rows.
index_t plane_depth(const Problem& p);
index_t plane_bytes(const Problem& p, index_t rows);

/// Clocks of a launch with these products, each with its K in `parts`, and of adding those up.
double expected_clocks(std::span<const Problem> products, const TileShape& tile, int parts,
                       int multiprocessors);

/// Has a kernel in this tile parts of K?
bool has_parts(std::string_view algorithm, DType in, const TileShape& tile);

struct TileAndParts {
  TileShape tile;
  int parts = 1;
  double clocks = 0;
};
/// The fastest expected tile of a group.
TileAndParts fastest_group_tile(std::span<const Problem> products, int multiprocessors);
/// The fastest expected division of K into more than one part; parts = 1 where none is possible.
TileAndParts fastest_parts(const Problem& p, int multiprocessors);

/// The same of `thin` in one tile.
double expected_thin_clocks(const Problem& p, const TileShape& tile, int parts,
                            int multiprocessors);
TileAndParts fastest_thin_parts(const Problem& p, const TileShape& tile, int multiprocessors);

}  // namespace tessera::detail
