// Layouts as tables of text, and what the pictures share with them: the grid of a shape, the index
// at a coordinate, which cells a tile marks. Grids too large to look at are refused before anything
// is built.
#include "tessera/layout/table.hpp"

#include <algorithm>
#include <vector>

#include "picture.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/print.hpp"

namespace tessera {

namespace picture {

IntTuple Grid::coordinate(index_t row, index_t column, index_t plane) const {
  if (shape.rank() == 1) return IntTuple(column);
  TupleBuilder out;
  out.push(row);
  out.push(column);
  for (int m = 2; m < shape.rank(); ++m) {
    const index_t extent = shape.mode(m).product();
    out.push(plane % extent);
    plane /= extent;
  }
  return out.done();
}

std::string Grid::plane_name(index_t plane) const {
  const IntTuple at = coordinate(0, 0, plane);
  std::string out = "(:,:";
  for (int m = 2; m < at.rank(); ++m) out += cat(',', at.leaf(m));
  return out + ')';
}

Grid grid_of(const IntTuple& shape, const std::string& text) {
  if (!shape.is_static())
    throw Error(Category::argument, cat("picture: ", text, " has extents known only at run time"));
  const index_t cells = shape.product();
  if (cells > kMaxPictureCells)
    throw Error(Category::argument, cat("picture: ", text, " is too large to draw"),
                cat("at most ", kMaxPictureCells, " cells"), cat(cells),
                "draw a sublayout or a tile of it");
  Grid out{shape};
  if (shape.rank() == 1) {
    out.columns = cells;
  } else {
    out.rows = shape.mode(0).product();
    out.columns = shape.mode(1).product();
    for (int m = 2; m < shape.rank(); ++m) out.planes *= shape.mode(m).product();
  }
  // An empty layout has no cells, but may still claim many rows.
  if (cells == 0) out.rows = out.columns = out.planes = 0;
  return out;
}

index_t index_at(const Layout& layout, const IntTuple& coordinate) {
  if (!layout.stride.is_static())
    throw Error(Category::argument,
                cat("picture: ", layout, " has strides known only at run time"));
  return crd2idx(coordinate, layout);
}

index_t index_at(const ComposedLayout& layout, const IntTuple& coordinate) {
  const index_t index = checked_add(layout.offset, index_at(layout.inner, coordinate));
  return layout.swizzled ? layout.swizzle(index) : index_at(layout.outer, IntTuple(index));
}

void check(const std::optional<TileMark>& mark, const Grid& grid) {
  if (!mark) return;
  const int rank = grid.shape.rank();
  const bool fits = mark->tile.is_flat() && mark->at.is_flat() && mark->tile.rank() == rank &&
                    mark->at.rank() == rank && mark->tile.is_static() && mark->at.is_static();
  if (!fits)
    throw Error(
        Category::argument,
        cat("picture: tile ", mark->tile, " at ", mark->at, " does not fit shape ", grid.shape),
        cat("one number for each of ", rank, rank == 1 ? " mode" : " modes"));
  for (int m = 0; m < rank; ++m) {
    const index_t extent = grid.shape.mode(m).product();
    if (mark->tile.leaf(m) < 1)
      throw Error(Category::argument, "picture: a tile has an extent below 1", "1 or more",
                  to_string(mark->tile));
    const index_t tiles = ceil_div(extent, mark->tile.leaf(m));
    if (mark->at.leaf(m) < 0 || mark->at.leaf(m) >= tiles)
      throw Error(Category::argument, cat("picture: there is no tile ", mark->at),
                  cat("0 to ", tiles - 1, " in mode ", m), cat(mark->at.leaf(m)));
  }
}

bool is_marked(const std::optional<TileMark>& mark, const IntTuple& coordinate) {
  if (!mark) return false;
  for (int m = 0; m < coordinate.rank(); ++m)
    if (coordinate.leaf(m) / mark->tile.leaf(m) != mark->at.leaf(m)) return false;
  return true;
}

}  // namespace picture

namespace {

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

template <class AnyLayout>
std::string format(const AnyLayout& layout, const IntTuple& shape,
                   const std::optional<TileMark>& mark) {
  const std::string title = to_string(layout);
  const picture::Grid grid = picture::grid_of(shape, title);
  picture::check(mark, grid);
  std::string out = title + '\n';

  std::vector<std::string> cells;
  std::size_t width = std::to_string(std::max<index_t>(grid.columns - 1, 0)).size();
  for (index_t p = 0; p < grid.planes; ++p)
    for (index_t i = 0; i < grid.rows; ++i)
      for (index_t j = 0; j < grid.columns; ++j) {
        cells.push_back(std::to_string(picture::index_at(layout, grid.coordinate(i, j, p))));
        width = std::max(width, cells.back().size());
      }
  const std::size_t margin = std::to_string(std::max<index_t>(grid.rows - 1, 0)).size();

  std::string divider(margin + 1, ' ');
  for (index_t j = 0; j < grid.columns; ++j) divider += '+' + std::string(width + 2, '-');
  divider += "+\n";

  std::size_t next = 0;
  for (index_t p = 0; p < grid.planes; ++p) {
    if (shape.rank() > 2) out += grid.plane_name(p) + '\n';
    std::string header(margin + 1, ' ');
    for (index_t j = 0; j < grid.columns; ++j)
      header += "  " + right_aligned(std::to_string(j), width) + ' ';
    header.erase(header.find_last_not_of(' ') + 1);
    out += header + '\n';
    for (index_t i = 0; i < grid.rows; ++i) {
      out += divider + right_aligned(std::to_string(i), margin) + ' ';
      for (index_t j = 0; j < grid.columns; ++j) {
        const bool marked = picture::is_marked(mark, grid.coordinate(i, j, p));
        out +=
            cat('|', marked ? '[' : ' ', right_aligned(cells[next++], width), marked ? ']' : ' ');
      }
      out += "|\n";
    }
    out += divider;
  }
  return out;
}

}  // namespace

std::string format_table(const Layout& layout, const std::optional<TileMark>& mark) {
  return format(layout, layout.shape, mark);
}

std::string format_table(const ComposedLayout& layout, const std::optional<TileMark>& mark) {
  return format(layout, layout.inner.shape, mark);
}

std::vector<index_t> tile_indices(const ComposedLayout& layout, const TileMark& mark) {
  const IntTuple& shape = layout.inner.shape;
  picture::check(mark, picture::Grid{shape});
  const int rank = shape.rank();
  std::vector<index_t> first, extent;
  index_t count = 1;
  for (int m = 0; m < rank; ++m) {
    const index_t tile = mark.tile.leaf(m);
    first.push_back(checked_mul(mark.at.leaf(m), tile));
    extent.push_back(std::min(tile, shape.mode(m).product() - first.back()));
    count = checked_mul(count, extent.back());
  }
  if (count > kMaxPictureCells)
    throw Error(Category::argument, cat("picture: tile ", mark.tile, " is too large to list"),
                cat("at most ", kMaxPictureCells, " elements"), cat(count));
  std::vector<index_t> out;
  for (index_t i = 0; i < count; ++i) {
    TupleBuilder at;
    index_t rest = i;
    for (std::size_t m = 0; m < first.size(); ++m) {
      at.push(first[m] + rest % extent[m]);
      rest /= extent[m];
    }
    out.push_back(picture::index_at(layout, rank == 1 ? at.done().mode(0) : at.done()));
  }
  return out;
}

}  // namespace tessera
