// coalesce: the same function with as few modes as possible. Two neighbours (s0,s1):(d0,d1) become
// one when d1 = s0 * d0; extents of 1 vanish. Dynamic numbers merge only where that is certain.
#pragma once

#include "tessera/layout/layout.hpp"
#include "tessera/layout/tuple_algebra.hpp"

namespace tessera {

/// One layout of several: mode i is the i-th argument.
template <class... Layouts>
constexpr Layout make_layout(const Layout& first, const Layouts&... others) {
  TupleBuilder shape, stride;
  shape.push(first.shape);
  stride.push(first.stride);
  ((shape.push(others.shape), stride.push(others.stride)), ...);
  return Layout(shape.done(), stride.done());
}

/// Collects modes, as TupleBuilder does.
struct LayoutBuilder {
  TupleBuilder shape, stride;

  constexpr void push(const Layout& mode) {
    shape.push(mode.shape);
    stride.push(mode.stride);
  }
  constexpr int pushed() const { return shape.pushed; }
  /// 1:0 when nothing was pushed.
  constexpr Layout done() const {
    return shape.pushed == 0 ? Layout() : Layout(shape.done(), stride.done());
  }
};

namespace detail {

/// Merges neighbours. `keep_last`: the last leaf stays in its place even when its extent is 1,
/// since its stride says where coordinates past the end go.
enum class LastMode { may_vanish, stays };

constexpr Layout merge_neighbours(const Layout& layout, LastMode last) {
  TupleBuilder shape, stride;
  index_t s = 1, d = 0;
  for (int k = 0; k < layout.shape.leaves(); ++k) {
    index_t next_s = layout.shape.leaf(k);
    const index_t next_d = layout.stride.leaf(k);
    if (last == LastMode::stays && k + 1 == layout.shape.leaves() && next_s == 1) next_s = 2;
    if (next_s == 1) continue;
    if (s == 1) {
      s = next_s;
      d = next_d;
      continue;
    }
    const index_t end = checked_mul(s, d);
    if (end != dynamic && next_d == end && s != dynamic) {
      s = checked_mul(s, next_s);
      continue;
    }
    shape.push(s);
    stride.push(d);
    s = next_s;
    d = next_d;
  }
  if (s != 1 || shape.pushed == 0) {
    shape.push(s);
    stride.push(s == 1 ? 0 : d);
  }
  return Layout(shape.done(), stride.done());
}

}  // namespace detail

/// (2,(1,4)):(1,(4,2)) -> 8:1.
constexpr Layout coalesce(const Layout& layout) {
  return detail::merge_neighbours(layout, detail::LastMode::may_vanish);
}

/// Coalesces each mode alone, so that the rank stays.
constexpr Layout coalesce_modes(const Layout& layout) {
  LayoutBuilder out;
  for (int m = 0; m < layout.rank(); ++m) out.push(coalesce(layout.mode(m)));
  return out.done();
}

/// Coalesces the modes that correspond to each leaf of `profile`: profile (1,1) keeps two modes.
constexpr Layout coalesce(const Layout& layout, const IntTuple& profile) {
  if (profile.is_leaf()) return coalesce(layout);
  LayoutBuilder out;
  for (int m = 0; m < layout.rank(); ++m)
    out.push(m < profile.rank() ? coalesce(layout.mode(m), profile.mode(m)) : layout.mode(m));
  return out.done();
}

/// The layout without modes of stride 0 or extent 1, coalesced.
constexpr Layout filter(const Layout& layout) {
  Layout out = layout;
  for (int k = 0; k < out.shape.leaves(); ++k)
    if (out.stride.leaf(k) == 0) out.shape.numbers.set(k, 1);
  return coalesce(out);
}

}  // namespace tessera
