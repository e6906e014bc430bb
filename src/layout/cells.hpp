// Tables of coloured cells as SVG: what the pictures of layouts and of memory accesses are made of.
//
// Text in the cells is dark on light colours, readable on light and dark backgrounds. The classes
// title, axis, below and mark are styled by the document around it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::picture {

inline constexpr int kCharWidth = 8;  ///< pixels
inline constexpr int kTitle = 34;     ///< height of the title above a picture

/// What one cell shows: an upper and perhaps a lower line, on a colour. Text is not escaped.
struct Cell {
  std::string text, below, fill;
  bool marked = false;
  std::string tip = {};  ///< tooltip; may be empty
};

/// From a pale to a strong blue as i runs from 0 to n - 1; dark text is readable on all of it.
std::string shade(index_t i, index_t n);
/// Light colours that differ between neighbours: sixteen hues, then the same a little darker.
std::string hue(index_t i);

/// A table of cells with the names of rows and columns around it. Names that are not given are
/// numbers.
struct Panel {
  index_t rows, columns;
  int cell_width;
  std::string title = {};
  bool titled = false;  ///< room for a title, also where it is empty
  int cell_height = 34;
  std::vector<std::string> row_names = {}, column_names = {};

  int left() const;        ///< pixels before the first cell
  int top() const;         ///< pixels above it
  index_t width() const;   ///< pixels
  index_t height() const;  ///< pixels
  /// Appends a group of SVG elements with the top left corner at (x, y).
  void draw(std::string& out, index_t x, index_t y,
            const std::function<Cell(index_t row, index_t column)>& cell_of) const;
};

/// The width of a cell for this many characters.
int width_for(std::size_t characters);

}  // namespace tessera::picture
