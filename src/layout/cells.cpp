// Tables of cells as SVG: see layout/cells.hpp.
#include "cells.hpp"

#include <algorithm>

#include "base/markup.hpp"
#include "tessera/core/text.hpp"

namespace tessera::picture {

namespace {

constexpr int kHeader = 22;

std::string hex(int red, int green, int blue) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "#";
  for (const int part : {red, green, blue}) {
    out += kDigits[part / 16];
    out += kDigits[part % 16];
  }
  return out;
}

std::string name_of(const std::vector<std::string>& names, index_t i) {
  return names.empty() ? cat(i) : escaped(names[static_cast<std::size_t>(i)]);
}

}  // namespace

std::string shade(index_t i, index_t n) {
  // Scaled down first, so that the product cannot overflow.
  const index_t coarse = n / (index_t{1} << 40) + 1, last = std::max<index_t>(1, (n - 1) / coarse);
  const index_t at = std::clamp<index_t>(i / coarse * 255 / last, 0, 255);
  const auto between = [&](int from, int to) {
    return from + static_cast<int>((to - from) * at / 255);
  };
  return hex(between(238, 112), between(244, 165), between(252, 224));
}

std::string hue(index_t i) {
  constexpr int kHues[16][3] = {{255, 179, 167}, {167, 205, 255}, {190, 232, 158}, {255, 224, 138},
                                {213, 186, 255}, {142, 226, 217}, {255, 190, 222}, {214, 214, 178},
                                {255, 206, 160}, {184, 220, 236}, {226, 240, 130}, {203, 196, 238},
                                {160, 225, 180}, {240, 190, 190}, {180, 230, 250}, {230, 205, 170}};
  const int* c = kHues[i % 16];
  const int less = static_cast<int>(i / 16 % 4) * 18;
  return hex(c[0] - less, c[1] - less, c[2] - less);
}

int Panel::left() const {
  std::size_t longest =
      row_names.empty() ? std::to_string(std::max<index_t>(rows - 1, 0)).size() : 0;
  for (const std::string& name : row_names) longest = std::max(longest, name.size());
  return kCharWidth * static_cast<int>(longest) + 10;
}

int Panel::top() const { return (titled ? kTitle : 0) + kHeader; }

index_t Panel::width() const {
  return std::max<index_t>(left() + columns * cell_width,
                           kCharWidth * static_cast<index_t>(title.size()));
}

index_t Panel::height() const { return top() + rows * cell_height; }

void Panel::draw(std::string& out, index_t x, index_t y,
                 const std::function<Cell(index_t, index_t)>& cell_of) const {
  const index_t edge = left(), base = (cell_height + 10) / 2;  // of a single line of text
  out += cat("<g transform=\"translate(", x, ",", y, ")\">\n");
  if (!title.empty())
    out += cat("<text class=\"title\" x=\"0\" y=\"18\">", escaped(title), "</text>\n");
  for (index_t j = 0; j < columns; ++j)
    out += cat("<text class=\"axis\" x=\"", edge + j * cell_width + cell_width / 2, "\" y=\"",
               top() - 7, "\">", name_of(column_names, j), "</text>\n");
  std::string marks;
  for (index_t i = 0; i < rows; ++i) {
    const index_t cy = top() + i * cell_height;
    out += cat("<text class=\"axis\" x=\"", edge / 2 - 2, "\" y=\"", cy + base, "\">",
               name_of(row_names, i), "</text>\n");
    for (index_t j = 0; j < columns; ++j) {
      const Cell cell = cell_of(i, j);
      const index_t cx = edge + j * cell_width;
      const std::string box = cat("x=\"", cx, "\" y=\"", cy, "\" width=\"", cell_width,
                                  "\" height=\"", cell_height, "\"");
      if (cell.tip.empty()) {
        out += cat("<rect ", box, " fill=\"", cell.fill, "\"/>");
      } else {
        out += cat("<rect ", box, " fill=\"", cell.fill, "\"><title>", escaped(cell.tip),
                   "</title></rect>");
      }
      if (cell.marked) marks += cat("<rect class=\"mark\" ", box, "/>\n");
      const index_t middle = cx + cell_width / 2;
      if (!cell.text.empty() || cell.tip.empty())
        out += cat("<text x=\"", middle, "\" y=\"", cy + (cell.below.empty() ? base : base - 7),
                   "\">", cell.text, "</text>");
      if (!cell.below.empty())
        out += cat("<text class=\"below\" x=\"", middle, "\" y=\"", cy + base + 6, "\">",
                   cell.below, "</text>");
      out += '\n';
    }
  }
  out += marks + "</g>\n";
}

int width_for(std::size_t characters) {
  return std::max(34, 14 + kCharWidth * static_cast<int>(characters));
}

}  // namespace tessera::picture
