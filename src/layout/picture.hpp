// What the text table and the SVG share: a layout as cells of planes of rows and columns.
#pragma once

#include <optional>
#include <string>

#include "tessera/layout/table.hpp"

namespace tessera::picture {

/// The first two modes are rows and columns; a single mode is one row. The others count planes.
struct Grid {
  IntTuple shape;
  index_t rows = 1, columns = 1, planes = 1;

  /// The coordinate of a cell as one number per mode.
  IntTuple coordinate(index_t row, index_t column, index_t plane) const;
  /// "(:,:,1)" for a plane of a layout of more than two modes.
  std::string plane_name(index_t plane) const;
};

/// Refuses what has dynamic numbers or too many cells.
Grid grid_of(const IntTuple& shape, const std::string& text);

index_t index_at(const Layout& layout, const IntTuple& coordinate);
index_t index_at(const ComposedLayout& layout, const IntTuple& coordinate);

/// Refuses a tile that does not fit the layout's rank.
void check(const std::optional<TileMark>& mark, const Grid& grid);
bool is_marked(const std::optional<TileMark>& mark, const IntTuple& coordinate);

}  // namespace tessera::picture
