// A layout as a text table: one row and column for each coordinate of the first two modes, the
// index in each cell; further modes as one table after another. A tile can be marked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/layout/composed.hpp"

namespace tessera {

/// The tile at tile coordinate `at`, sizes by mode: tile (2,2) at (0,1) is rows 0-1, columns 2-3.
/// Past the edge it is clipped.
struct TileMark {
  IntTuple tile, at;
};

/// The largest number of cells that a picture may have.
inline constexpr index_t kMaxPictureCells = 16384;

/// The table with a line "shape:stride" above it. Cells of a marked tile are in brackets. Throws
/// Error(argument) for more than kMaxPictureCells cells, numbers known only at run time, or a tile
/// outside the layout.
std::string format_table(const Layout& layout, const std::optional<TileMark>& mark = {});
/// The same with the composition above it.
std::string format_table(const ComposedLayout& layout, const std::optional<TileMark>& mark = {});

/// The indices of a tile's elements, the first mode fastest. The layout may be larger than a
/// picture, the tile may not.
std::vector<index_t> tile_indices(const ComposedLayout& layout, const TileMark& mark);

}  // namespace tessera
