// composition(a, b) is the layout of i -> a(b(i)), with the shape of b refined where a mode of b
// runs across modes of a. complement(a, n) is the layout of the rest of [0, n): every index below n
// is an index of a plus an index of the complement, when a divides n.
#pragma once

#include "tessera/layout/tiler.hpp"

namespace tessera {

namespace detail {

/// Composes a with one mode of b after the other. A number below the size of a is written with one
/// digit per mode of a; each mode of b uses some digits. a(x + y) is a(x) + a(y) as long as no
/// digit overflows, so the digits used are counted.
struct Composer {
  Layout a;                  ///< flat, coalesced, the last mode in its place
  Layout whole_a, whole_b;   ///< as given, for messages
  refused::Call call;        ///< the function, for messages
  Leaves forward, backward;  ///< the largest digit sums so far, by mode of a

  constexpr void use(int mode, index_t sign, index_t digit) {
    Leaves& sums = sign > 0 ? forward : backward;
    sums.set(mode, checked_add(sums[mode], digit));
  }

  /// No digit overflows; modes of opposite direction stay within one digit.
  constexpr void check() const {
    const int last = a.shape.leaves() - 1;
    bool ahead = false, back = false;
    int used = 0;
    for (int k = 0; k <= last; ++k) {
      if (k < last && (forward[k] >= a.shape.leaf(k) || backward[k] >= a.shape.leaf(k)) &&
          a.shape.leaf(k) > 0)
        refused::modes_overlap_for_a_composition(call, whole_a, whole_b);
      ahead |= forward[k] > 0;
      back |= backward[k] > 0;
      used += forward[k] > 0 || backward[k] > 0;
    }
    if (ahead && back && used > 1) refused::modes_overlap_for_a_composition(call, whole_a, whole_b);
  }

  /// a after the single mode extent:step.
  constexpr Layout leaf(index_t extent, index_t step) {
    if (step == 0) return Layout(extent, 0);
    const int last = a.shape.leaves() - 1;
    if (last == 0) return Layout(extent, checked_mul(step, a.stride.leaf(0)));
    if (step == dynamic) refused::this_needs_a_stride_that_is_only_known_at_run_time(whole_b);
    if (extent == dynamic)
      refused::this_needs_an_extent_that_is_only_known_at_run_time(whole_b.shape);
    // a(-i) is -a(i): a mode of negative stride is a positive one with its strides negated.
    const index_t sign = step < 0 ? -1 : 1;
    step *= sign;
    LayoutBuilder out;
    for (int k = 0; k < last && (extent != 1 || out.pushed() == 0); ++k) {
      const index_t s = a.shape.leaf(k), d = checked_mul(sign, a.stride.leaf(k));
      if (extent == 1) {  // the stride has no effect; as in CuTe, what is left of the step
        if (s > 0) step = ceil_div(step, s);
        continue;
      }
      if (s == dynamic) refused::this_needs_an_extent_that_is_only_known_at_run_time(whole_a.shape);
      if (s == 0) return Layout(extent, 0);  // there is nothing to index
      if (step >= s) {                       // the mode is skipped as a whole
        if (step % s != 0)
          refused::the_strides_must_divide_for_a_composition(call, whole_a, whole_b);
        step /= s;
        continue;
      }
      const index_t here = ceil_div(s, step);
      if (extent <= here) {
        out.push(Layout(extent, checked_mul(step, d)));
        use(k, sign, (extent - 1) * step);
        extent = 1;
      } else {
        if (s % step != 0)
          refused::the_strides_must_divide_for_a_composition(call, whole_a, whole_b);
        if (extent % here != 0)
          refused::the_extents_must_divide_for_a_composition(call, whole_a, whole_b);
        if (here > 1) out.push(Layout(here, checked_mul(step, d)));
        use(k, sign, (here - 1) * step);
        extent /= here;
        step = 1;
      }
    }
    if (out.pushed() == 0 || extent != 1) {
      out.push(Layout(extent, checked_mul(sign, checked_mul(step, a.stride.leaf(last)))));
      use(last, sign, extent > 1 ? 1 : 0);
    }
    return out.done();  // a single piece is the result
  }

  constexpr Layout modes(const Layout& b) {
    if (b.shape.is_leaf()) return leaf(b.shape.value(), b.stride.value());
    LayoutBuilder out;
    for (int m = 0; m < b.rank(); ++m) out.push(modes(b.mode(m)));
    return out.done();
  }
};

/// composition(a, b) for the function `call`, which error messages name.
constexpr Layout composition_for(const refused::Call& call, const Layout& a, const Layout& b) {
  Composer composer{merge_neighbours(a, LastMode::stays), a, b, call, {}, {}};
  const Layout out = composer.modes(b);
  composer.check();
  return out;
}

}  // namespace detail

/// i -> a(b(i)). Refused where a mode of b would cut a mode of a unevenly, or where modes of b add
/// up past the end of a mode of a.
constexpr Layout composition(const Layout& a, const Layout& b) {
  return detail::composition_for({"composition"}, a, b);
}

/// Mode by mode: composition(row_major(8,4), tiler(4:1, 2:1)) is (4,2):(4,1).
constexpr Layout composition(const Layout& a, const Tiler& b) {
  return transform_modes(a, b, [](const Layout& x, const Layout& y) { return composition(x, y); });
}

namespace detail {

/// complement(layout, n) for the function `call`, which error messages name.
constexpr Layout complement_for(const refused::Call& call, const Layout& layout, index_t n) {
  const Layout a = filter(layout);
  const int count = a.shape.leaves();
  if (count == 1 && a.stride.leaf(0) == 0) return coalesce(Layout(n, 1));
  if (count > 1 && !a.is_static())
    refused::a_complement_needs_known_extents_and_strides(call, layout);
  LayoutBuilder out;
  std::uint32_t done = 0;
  index_t end = 1;  // where the modes so far and their gaps end
  for (int placed = 0; placed < count; ++placed) {
    int next = -1;
    for (int k = 0; k < count; ++k)
      if (!(done >> k & 1u) && (next < 0 || a.stride.leaf(k) < a.stride.leaf(next))) next = k;
    done |= 1u << next;
    const index_t s = a.shape.leaf(next), d = a.stride.leaf(next);
    if (s == 0) refused::an_empty_layout_has_no_complement(call, layout);
    if (d < 0 && d != dynamic) refused::a_complement_needs_strides_of_0_or_more(call, layout);
    const index_t gap = d == dynamic ? dynamic : d / end;
    if (gap == 0) refused::a_complement_needs_a_layout_without_overlap(call, layout);
    out.push(Layout(gap, end));
    end = checked_mul(s, d);
  }
  out.push(Layout(ceil_div(n, end), end));
  return coalesce(out.done());
}

}  // namespace detail

/// The layout of the rest: its indices ascend, none but 0 is an index of `layout`, and sums of the
/// two fill [0, n) where strides and n divide. complement((2,2):(1,6), 24) is (3,2):(2,12).
constexpr Layout complement(const Layout& layout, index_t n = 1) {
  return detail::complement_for({"complement"}, layout, n);
}

}  // namespace tessera
