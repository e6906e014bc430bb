// Inverses: a(right_inverse(a)(i)) = i for every i below its size, as far as the indices of a are
// gapless from 0; left_inverse(a)(a(i)) = i for a layout without overlap, and the first coordinate
// with that index where modes of stride 0 repeat it.
#pragma once

#include "tessera/layout/compose.hpp"

namespace tessera {

/// The longest r with a(r(i)) = i: right_inverse(row_major(4,8)) is (8,4):(4,1).
constexpr Layout right_inverse(const Layout& layout) {
  const Layout a = coalesce(layout);
  const IntTuple step = prefix_product(a.shape);
  LayoutBuilder out;
  index_t next = 1;
  for (int k = 0; k < a.shape.leaves();) {
    if (a.stride.leaf(k) == next && a.shape.leaf(k) != 1) {
      out.push(Layout(a.shape.leaf(k), step.leaf(k)));
      if (a.shape.leaf(k) == dynamic || a.shape.leaf(k) == 0) break;
      next = checked_mul(next, a.shape.leaf(k));
      k = 0;
    } else ++k;
  }
  return coalesce(out.done());
}

/// l with l(a(i)) = i: left_inverse((4,8):(1,5)) is (5,8):(1,4). Modes of stride 0 are skipped:
/// l(a(i)) is then the first of the coordinates with that index, left_inverse((2,3,4):(0,1,0)) is
/// 3:2. Refused where modes of nonzero stride give two coordinates one index, and where a stride is
/// no multiple of the next smaller one. Needs known numbers unless there is a single mode.
constexpr Layout left_inverse(const Layout& layout) {
  const Layout rest = detail::complement_for({"left_inverse"}, layout, 1);  // refuses what overlaps
  const Layout a = coalesce(layout);
  const IntTuple step = prefix_product(a.shape);
  // The modes of nonzero stride and extent > 1, by rising stride; `end` is where the previous one
  // ends.
  LayoutBuilder out;
  std::uint32_t done = 0;
  index_t before = 1, end = 1, step_before = 0, gaps_divide = 1;
  for (;;) {
    int next = -1;
    for (int k = 0; k < a.shape.leaves(); ++k)
      if (!(done >> k & 1u) && a.stride.leaf(k) != 0 &&
          (next < 0 || a.stride.leaf(k) < a.stride.leaf(next)))
        next = k;
    if (next < 0) break;
    done |= 1u << next;
    const index_t s = a.shape.leaf(next), d = a.stride.leaf(next);
    if (d != dynamic && d % before != 0)
      refused::each_stride_must_be_a_multiple_of_the_next_smaller_for_a_left_inverse(layout);
    gaps_divide &= d == dynamic || d % end == 0;
    out.push(Layout(d == dynamic ? dynamic : d / before, step_before));
    before = d;
    end = checked_mul(s, d);
    step_before = step.leaf(next);
  }
  // Where every stride is a multiple of the range below it, the gaps are modes that the inverse
  // covers too.
  if (gaps_divide != 0) return right_inverse(make_layout(layout, rest));
  out.push(Layout(end / before, step_before));
  return coalesce(out.done());
}

}  // namespace tessera
