// Tiler: one layout for each mode, `<3:3,(2,4):(1,8)>`. A function that takes a Layout as tiler
// works on the whole layout; with a Tiler it works on each mode alone, and modes without a
// layout are left alone. A plain tuple is a tiler too: (8,4) means <8:1,4:1>.
#pragma once

#include "tessera/layout/coalesce.hpp"

namespace tessera {

struct Tiler {
  Layout modes;  ///< for a single mode, that layout itself
  int count = 1;

  /// Member by member, as nvcc prints template arguments; use `tiler(...)`.
  constexpr Tiler(const Layout& modes_, int count_) : modes(modes_), count(count_) {}

  constexpr int rank() const { return count; }
  constexpr Layout mode(int i) const { return count == 1 ? modes : modes.mode(i); }

  friend constexpr bool operator==(const Tiler&, const Tiler&) = default;
};

/// tiler(a, b) is <a,b>.
template <class... Layouts>
constexpr Tiler tiler(const Layout& first, const Layouts&... others) {
  if constexpr (sizeof...(others) == 0) return Tiler(first, 1);
  else return Tiler(make_layout(first, Layout(others)...), 1 + static_cast<int>(sizeof...(others)));
}

/// Builds a layout from f(layout mode, tiler mode) for each mode of the tiler, and the other modes
/// of the layout as they are.
template <class F>
constexpr Layout transform_modes(const Layout& layout, const Tiler& tiler, F&& f) {
  if (tiler.rank() > layout.rank()) refused::a_tiler_has_at_most_as_many_modes(layout, tiler);
  LayoutBuilder out;
  for (int m = 0; m < layout.rank(); ++m)
    out.push(m < tiler.rank() ? f(layout.mode(m), tiler.mode(m)) : layout.mode(m));
  return out.done();
}

}  // namespace tessera
