// Tensors as aligned columns of text, compiled once for all element types: the header converts each
// number to text. Long modes are shortened in the
// middle.
#include "tessera/tensor/print.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera {

std::string number_text(index_t value) { return std::to_string(value); }

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

namespace detail {

namespace {

/// One matrix of cells; `cols` may be shortened in the middle, as `rows` may.
class Matrix {
 public:
  Matrix(const std::string* cells, index_t rows, index_t cols)
      : cells_(cells), rows_(rows), cols_(cols), shown_(printed(cols)) {}

  std::string text() const {
    std::vector<std::size_t> widths(static_cast<std::size_t>(shown_));
    for (index_t i = 0; i < printed(rows_); ++i) {
      for (index_t j = 0; j < shown_; ++j) {
        auto& width = widths[static_cast<std::size_t>(j)];
        width = std::max(width, cell(i, j).size());
      }
    }
    std::string out;
    for (index_t i = 0; i < printed(rows_); ++i) {
      if (cut(i, rows_)) out += "...\n";
      std::string line;
      for (index_t j = 0; j < shown_; ++j) {
        if (cut(j, cols_)) line += " ...";
        const std::string& one = cell(i, j);
        if (j > 0) line += ' ';
        line += std::string(widths[static_cast<std::size_t>(j)] - one.size(), ' ') + one;
      }
      out += line + '\n';
    }
    return out;
  }

 private:
  /// Positions were left out before column i.
  static bool cut(index_t i, index_t extent) {
    return extent > kPrintLimit && i == kPrintLimit / 2;
  }
  const std::string& cell(index_t i, index_t j) const { return cells_[i * shown_ + j]; }

  const std::string* cells_;
  index_t rows_, cols_, shown_;
};

std::string shape_text(const std::vector<index_t>& extents) {
  std::string text;
  for (const index_t extent : extents) text += (text.empty() ? "(" : ",") + std::to_string(extent);
  return text + ")";
}

}  // namespace

std::string format_tensor(const std::vector<index_t>& extents,
                          const std::vector<std::string>& cells) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return "empty " + shape_text(extents) + "\n";
  if (extents.size() == 1) return Matrix(cells.data(), 1, extents[0]).text();
  const std::size_t leading = extents.size() - 2;
  const index_t rows = extents[leading], cols = extents[leading + 1];
  const index_t per_slice = printed(rows) * printed(cols);
  std::vector<index_t> place(leading, 0);
  std::string out;
  for (index_t slice = 0; slice * per_slice < static_cast<index_t>(cells.size()); ++slice) {
    if (leading > 0) {
      out += slice == 0 ? "[" : "\n[";
      for (std::size_t m = 0; m < leading; ++m)
        out += std::to_string(printed_position(place[m], extents[m])) + ", ";
      out += ":, :]\n";
    }
    out += Matrix(cells.data() + slice * per_slice, rows, cols).text();
    for (std::size_t m = leading; m-- > 0;) {
      if (++place[m] < printed(extents[m])) break;
      place[m] = 0;
    }
  }
  return out;
}

}  // namespace detail

}  // namespace tessera
