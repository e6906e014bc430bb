// Draws layouts as SVG text: cells on panels, one for each plane of the grid, in colours that are
// readable on light and dark backgrounds. The same input gives the same bytes.
//
// Documents and tests may therefore compare them.
#include "tessera/layout/svg.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/markup.hpp"
#include "cells.hpp"
#include "picture.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/print.hpp"

namespace tessera {

using picture::Cell;
using picture::hue;
using picture::kCharWidth;
using picture::kTitle;
using picture::Panel;
using picture::shade;
using picture::width_for;

namespace {

constexpr int kMargin = 20, kGap = 12;

/// The frame around panels of the given extent.
std::string document(const std::string& title, index_t width, index_t height,
                     const std::string& body) {
  const index_t text_width = kCharWidth * static_cast<index_t>(title.size());
  const index_t w = std::max(width, text_width) + 2 * kMargin;
  const index_t h = height + kTitle + 2 * kMargin;
  return cat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", w, "\" height=\"", h,
      "\" viewBox=\"0 0 ", w, " ", h, "\" role=\"img\">\n<title>", escaped(title),
      "</title>\n<style>\n"
      "text{font:13px ui-monospace,'DejaVu Sans Mono',monospace;text-anchor:middle;fill:#14202e}\n"
      "rect{stroke:#5b6b7d;stroke-width:1}\n"
      ".ground{fill:#ffffff;stroke:none}\n"
      ".title{font-size:13px;font-weight:bold;text-anchor:start;fill:#14202e}\n"
      ".axis{font-size:11px;fill:#5b6b7d}\n"
      ".below{font-size:11px}\n"
      ".mark{fill:none;stroke:#c2410c;stroke-width:2.5}\n"
      "@media (prefers-color-scheme:dark){.ground{fill:#10161d}.title{fill:#e6edf3}"
      ".axis{fill:#9aa8b6}}\n"
      "</style>\n<rect class=\"ground\" width=\"",
      w, "\" height=\"", h, "\"/>\n<text class=\"title\" x=\"", kMargin, "\" y=\"", kMargin + 14,
      "\">", escaped(title), "</text>\n", body, "</svg>\n");
}

struct Range {
  index_t least = 0, most = 0;
  std::size_t digits = 1;
};

std::string text_at(index_t index, const ValueAt& value_at) {
  return value_at ? escaped(value_at(index)) : cat(index);
}

template <class AnyLayout>
Range range_of(const AnyLayout& layout, const picture::Grid& grid, const ValueAt& value_at = {}) {
  Range out;
  bool first = true;
  for (index_t p = 0; p < grid.planes; ++p)
    for (index_t i = 0; i < grid.rows; ++i)
      for (index_t j = 0; j < grid.columns; ++j) {
        const index_t index = picture::index_at(layout, grid.coordinate(i, j, p));
        out.least = first ? index : std::min(out.least, index);
        out.most = first ? index : std::max(out.most, index);
        out.digits = std::max(out.digits, text_at(index, value_at).size());
        first = false;
      }
  return out;
}

/// Draws every plane of the grid, one below the other.
template <class CellOf>
std::string planes(const picture::Grid& grid, int cell_width, const std::string& title,
                   CellOf&& cell_of) {
  const bool several = grid.shape.rank() > 2;
  std::string body;
  index_t y = kTitle + kMargin, width = 0;
  for (index_t p = 0; p < grid.planes; ++p) {
    const Panel panel{grid.rows, grid.columns, cell_width, several ? grid.plane_name(p) : "",
                      several};
    panel.draw(body, kMargin, y, [&](index_t i, index_t j) { return cell_of(i, j, p); });
    y += panel.height() + (p + 1 < grid.planes ? kGap : 0);
    width = std::max(width, panel.width());
  }
  return document(title, width, y - kTitle - kMargin, body);
}

template <class AnyLayout>
std::string picture_of(const AnyLayout& layout, const IntTuple& shape,
                       const std::optional<TileMark>& mark, const ValueAt& value_at) {
  std::string title = to_string(layout);
  const picture::Grid grid = picture::grid_of(shape, title);
  picture::check(mark, grid);
  if (mark) title += cat(", tile ", mark->tile, " at ", mark->at);
  const Range range = range_of(layout, grid, value_at);
  return planes(grid, width_for(range.digits), title, [&](index_t i, index_t j, index_t p) {
    const IntTuple at = grid.coordinate(i, j, p);
    const index_t index = picture::index_at(layout, at);
    const bool marked = picture::is_marked(mark, at);
    return Cell{text_at(index, value_at), "",
                marked ? "#ffd58a"
                       : shade(checked_add(index, -range.least),
                               checked_add(checked_add(range.most, -range.least), 1)),
                marked, value_at ? cat("index ", index) : ""};
  });
}

}  // namespace

std::string svg(const Layout& layout, const std::optional<TileMark>& mark,
                const ValueAt& value_at) {
  return picture_of(layout, layout.shape, mark, value_at);
}

std::string svg(const ComposedLayout& layout, const std::optional<TileMark>& mark,
                const ValueAt& value_at) {
  return picture_of(layout, layout.inner.shape, mark, value_at);
}

std::string svg_thread_values(const Layout& thread_value, const IntTuple& shape) {
  if (thread_value.rank() != 2)
    throw Error(Category::argument, cat("picture: ", thread_value, " is no thread-value map"),
                "two modes", cat(thread_value.rank()));
  const picture::Grid grid = picture::grid_of(shape, to_string(shape));
  const picture::Grid owners = picture::grid_of(thread_value.shape, to_string(thread_value));
  const Layout position(shape);  // first mode fastest, as the map counts
  std::vector<std::string> threads(static_cast<std::size_t>(shape.product())), values = threads;
  std::vector<index_t> colour(threads.size(), -1);
  std::size_t longest = 1;
  for (index_t t = 0; t < owners.rows; ++t)
    for (index_t v = 0; v < owners.columns; ++v) {
      const index_t at = picture::index_at(thread_value, tuple(t, v));
      if (at < 0 || at >= shape.product())
        throw Error(Category::argument, cat("picture: ", thread_value, " leaves the tile ", shape),
                    cat("positions below ", shape.product()), cat(at));
      const auto cell = static_cast<std::size_t>(at);
      if (colour[cell] < 0) {
        threads[cell] = cat('T', t);
        values[cell] = cat('V', v);
        colour[cell] = t;
      } else {  // several owners: a broadcast
        values[cell] = cat('V', v);
        if (threads[cell].back() != '+' && colour[cell] != t) threads[cell] += '+';
      }
      longest = std::max({longest, threads[cell].size(), values[cell].size()});
    }
  return planes(grid, width_for(longest), cat(thread_value, " over ", shape),
                [&](index_t i, index_t j, index_t p) {
                  const auto cell =
                      static_cast<std::size_t>(crd2idx(grid.coordinate(i, j, p), position));
                  if (colour[cell] < 0) return Cell{"", "", "#d5dbe1", false};
                  return Cell{threads[cell], values[cell], hue(colour[cell]), false};
                });
}

std::string svg_swizzle(const ComposedLayout& layout, index_t elements_per_bank, index_t banks) {
  if (!layout.swizzled)
    throw Error(Category::argument, cat("picture: ", layout, " is not a swizzled layout"));
  if (elements_per_bank < 1 || banks < 1)
    throw Error(Category::argument, "picture: elements per bank and banks must be positive",
                "1 or more", cat(elements_per_bank, " and ", banks));
  const picture::Grid grid = picture::grid_of(layout.inner.shape, to_string(layout));
  const ComposedLayout plain(Swizzle(), layout.offset, layout.inner);
  const Range range = range_of(layout, grid), before = range_of(plain, grid);
  const int cell_width = width_for(std::max(range.digits, before.digits));
  // Side by side where that stays readable, else one above the other.
  const bool wide = grid.columns * cell_width > 640;
  std::string body;
  index_t x = kMargin, y = kTitle + kMargin, width = 0;
  for (index_t p = 0; p < grid.planes; ++p) {
    const std::string plane = grid.shape.rank() > 2 ? " " + grid.plane_name(p) : "";
    for (const auto& [shown, name] : {std::pair(&plain, "before"), std::pair(&layout, "after")}) {
      const Panel panel{grid.rows, grid.columns, cell_width, name + plane, true};
      panel.draw(body, x, y, [&, shown = shown](index_t i, index_t j) {
        const index_t index = picture::index_at(*shown, grid.coordinate(i, j, p));
        const index_t bank = index / elements_per_bank % banks;
        return Cell{cat(index), "", hue(bank < 0 ? bank + banks : bank), false};
      });
      width = std::max(width, x - kMargin + panel.width());
      const bool next_row = wide || shown == &layout;
      x = next_row ? kMargin : x + panel.width() + 28;
      if (next_row) y += panel.height() + kGap;
    }
  }
  return document(cat(layout, " coloured by bank"), width, y - kTitle - kMargin - kGap, body);
}

}  // namespace tessera
