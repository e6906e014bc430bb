// Division: a layout cut by a tile. logical_divide gives (tile, rest): the first mode walks inside
// a tile, the second from tile to tile. zipped_divide by several modes gathers all tile modes
// first; tiled_divide then unpacks the modes of the rest. With a Layout the whole layout is
// cut, with a Tiler or a tuple mode by mode.
#pragma once

#include "tessera/layout/compose.hpp"

namespace tessera {

namespace detail {

/// logical_divide for the function `name`, which error messages name.
constexpr Layout divide_for(const char* name, const Layout& layout, const Layout& tile) {
  const refused::Call call{name, &layout, &tile};
  return composition_for(call, layout,
                         make_layout(tile, complement_for(call, tile, layout.size())));
}

}  // namespace detail

/// (tile, rest): logical_divide(8:1, 2:1) is (2,4):(1,2).
constexpr Layout logical_divide(const Layout& layout, const Layout& tile) {
  return detail::divide_for("logical_divide", layout, tile);
}

/// ((tile0,rest0),(tile1,rest1),...).
constexpr Layout logical_divide(const Layout& layout, const Tiler& tile) {
  return transform_modes(layout, tile,
                         [](const Layout& a, const Layout& b) { return logical_divide(a, b); });
}

/// By a shape: a number cuts the whole layout, a tuple cuts mode by mode and may nest.
constexpr Layout logical_divide(const Layout& layout, const IntTuple& tile) {
  if (tile.is_leaf()) return logical_divide(layout, Layout(tile));
  if (tile.rank() > layout.rank()) refused::a_tile_has_at_most_as_many_modes(layout, tile);
  LayoutBuilder out;
  for (int m = 0; m < layout.rank(); ++m)
    out.push(m < tile.rank() ? logical_divide(layout.mode(m), tile.mode(m)) : layout.mode(m));
  return out.done();
}

namespace detail {

/// zipped_divide for the function `name`, which error messages name.
constexpr Layout zipped_for(const char* name, const Layout& layout, const Layout& tile) {
  return divide_for(name, layout, tile);
}

constexpr Layout zipped_for(const char* name, const Layout& layout, const Tiler& tile) {
  if (tile.rank() > layout.rank()) refused::a_tiler_has_at_most_as_many_modes(layout, tile);
  LayoutBuilder tiles, rests;
  for (int m = 0; m < layout.rank(); ++m) {
    if (m < tile.rank()) {
      const Layout both = divide_for(name, layout.mode(m), tile.mode(m));
      tiles.push(both.mode(0));
      rests.push(both.mode(1));
    } else {
      rests.push(layout.mode(m));
    }
  }
  return make_layout(tiles.done(), rests.done());
}

constexpr Layout zipped_for(const char* name, const Layout& layout, const IntTuple& tile) {
  if (tile.is_leaf()) return divide_for(name, layout, Layout(tile));
  if (tile.rank() > layout.rank()) refused::a_tile_has_at_most_as_many_modes(layout, tile);
  LayoutBuilder tiles, rests;
  for (int m = 0; m < layout.rank(); ++m) {
    if (m < tile.rank()) {
      const Layout both = zipped_for(name, layout.mode(m), tile.mode(m));
      tiles.push(both.mode(0));
      rests.push(both.mode(1));
    } else {
      rests.push(layout.mode(m));
    }
  }
  return make_layout(tiles.done(), rests.done());
}

}  // namespace detail

/// (tile, rest), as logical_divide: one Layout cuts the whole layout.
constexpr Layout zipped_divide(const Layout& layout, const Layout& tile) {
  return detail::zipped_for("zipped_divide", layout, tile);
}

/// ((tile0,tile1,...),(rest0,rest1,...)): zipped_divide(row_major(4,4), <2:1,2:1>) is
/// ((2,2),(2,2)):((4,1),(8,2)).
constexpr Layout zipped_divide(const Layout& layout, const Tiler& tile) {
  return detail::zipped_for("zipped_divide", layout, tile);
}

/// By a shape, which may nest: zipped_divide(a, ((8,4),4)) has the modes (((8,4),4),(rest...)).
constexpr Layout zipped_divide(const Layout& layout, const IntTuple& tile) {
  return detail::zipped_for("zipped_divide", layout, tile);
}

/// ((tile0,tile1,...),rest0,rest1,...).
template <class Tile>
constexpr Layout tiled_divide(const Layout& layout, const Tile& tile) {
  const Layout zipped = detail::zipped_for("tiled_divide", layout, tile);
  LayoutBuilder out;
  out.push(zipped.mode(0));
  for (int m = 0; m < zipped.mode(1).rank(); ++m) out.push(zipped.mode(1).mode(m));
  return out.done();
}

/// (tile0,tile1,...,rest0,rest1,...).
template <class Tile>
constexpr Layout flat_divide(const Layout& layout, const Tile& tile) {
  const Layout zipped = detail::zipped_for("flat_divide", layout, tile);
  LayoutBuilder out;
  for (int half = 0; half < 2; ++half)
    for (int m = 0; m < zipped.mode(half).rank(); ++m) out.push(zipped.mode(half).mode(m));
  return out.done();
}

}  // namespace tessera
