// ComposedLayout: coordinates -> inner layout -> + offset -> a swizzle or another layout. It
// expresses what a plain shape:stride cannot, above all a swizzled tile. Its shape is that of the
// inner layout;
// division and products act on the inner layout.
#pragma once

#include "tessera/layout/divide.hpp"
#include "tessera/layout/modes.hpp"
#include "tessera/layout/swizzle.hpp"

namespace tessera {

/// The outer function is either a swizzle or a layout; the other member keeps its default.
struct ComposedLayout {
  Swizzle swizzle;
  Layout outer;
  bool swizzled = true;
  index_t offset = 0;
  Layout inner;

  /// Member by member, as nvcc prints template arguments.
  constexpr ComposedLayout(const Swizzle& swizzle_, const Layout& outer_, bool swizzled_,
                           index_t offset_, const Layout& inner_)
      : swizzle(swizzle_), outer(outer_), swizzled(swizzled_), offset(offset_), inner(inner_) {}
  constexpr ComposedLayout(const Swizzle& swizzle_, index_t offset_, const Layout& inner_)
      : ComposedLayout(swizzle_, Layout(), true, offset_, inner_) {}
  constexpr ComposedLayout(const Layout& outer_, index_t offset_, const Layout& inner_)
      : ComposedLayout(Swizzle(), outer_, false, offset_, inner_) {}

  constexpr const IntTuple& shape() const { return inner.shape; }
  constexpr int rank() const { return inner.rank(); }
  constexpr index_t size() const { return inner.size(); }
  /// The length of a range that holds every index.
  constexpr index_t cosize() const {
    const index_t reach = checked_add(inner.cosize(), offset);
    if (reach == dynamic || inner.cosize() == 0) return reach == dynamic ? dynamic : 0;
    if (!swizzled) {
      // outer, with its last mode extended to cover [0, reach).
      const Layout upto = composition(outer, Layout(reach, 1));
      return upto.cosize();
    }
    const index_t block = swizzle.size();
    return checked_mul(ceil_div(reach, block), block);
  }

  template <class... Coordinates>
  [[gnu::always_inline]] TESSERA_HD constexpr index_t operator()(
      const Coordinates&... coordinates) const {
    const index_t index = offset + inner(coordinates...);
    return swizzled ? swizzle(index) : outer(index);
  }

  friend constexpr bool operator==(const ComposedLayout&, const ComposedLayout&) = default;
};

/// The swizzle after the layout.
constexpr ComposedLayout composition(const Swizzle& swizzle, const Layout& layout) {
  return ComposedLayout(swizzle, 0, layout);
}

/// Composition on the right goes into the inner layout.
template <class Inner>
constexpr ComposedLayout composition(const ComposedLayout& a, const Inner& b) {
  return ComposedLayout(a.swizzle, a.outer, a.swizzled, a.offset, composition(a.inner, b));
}
template <class Tile>
constexpr ComposedLayout logical_divide(const ComposedLayout& a, const Tile& tile) {
  return ComposedLayout(a.swizzle, a.outer, a.swizzled, a.offset, logical_divide(a.inner, tile));
}
template <class Tile>
constexpr ComposedLayout zipped_divide(const ComposedLayout& a, const Tile& tile) {
  return ComposedLayout(a.swizzle, a.outer, a.swizzled, a.offset, zipped_divide(a.inner, tile));
}
template <class Tile>
constexpr ComposedLayout tiled_divide(const ComposedLayout& a, const Tile& tile) {
  return ComposedLayout(a.swizzle, a.outer, a.swizzled, a.offset, tiled_divide(a.inner, tile));
}

}  // namespace tessera
