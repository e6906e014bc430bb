// Inverses: a(right_inverse(a)(i)) = i for every i below its size, as far as the indices of a are
// gapless from 0; left_inverse(a)(a(i)) = i for a layout without overlap.
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

/// l with l(a(i)) = i: left_inverse((4,8):(1,5)) is (5,8):(1,4). Refused where strides do not
/// divide each other.
constexpr Layout left_inverse(const Layout& layout) {
  const Layout a = filter(layout);
  const Layout rest = complement(a);
  const Layout inverse = right_inverse(make_layout(layout, rest));
  // The gaps are bridged only when every stride is a multiple of the end of the mode before.
  for (int k = 0; k < a.shape.leaves(); ++k) {
    const index_t d = a.stride.leaf(k), s = a.shape.leaf(k);
    if (s == dynamic || d == dynamic || s == 1) continue;
    const index_t last = checked_mul(d, s - 1);
    for (int j = 0; j < a.shape.leaves(); ++j) {
      const index_t other = a.stride.leaf(j);
      if (other != dynamic && other > d && other % checked_add(last, d) != 0)
        refused::the_strides_must_divide_for_a_left_inverse(layout);
    }
  }
  return inverse;
}

}  // namespace tessera
