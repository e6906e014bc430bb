// Simple changes of a layout (other element widths, a subset of the modes, modes reversed) and
// predicates.
#pragma once

#include "tessera/layout/coalesce.hpp"

namespace tessera {

/// The layout in elements n times as wide: upcast((8,1024):(1024,1), 16) is (8,64):(64,1). A
/// dynamic stride is taken to be a multiple of n. Error(shape) where n is below 1, where n and a
/// stride do not divide one another, or an extent and the remaining factor of n do not.
constexpr Layout upcast(const Layout& layout, index_t n) {
  if (n <= 0) refused::a_factor_must_be_positive({"upcast", &layout}, n);
  const auto divide = [&](index_t a, index_t b) {
    const bool known = a != dynamic && b != dynamic && a != 0;
    if (known && a % b != 0 && b % a != 0) refused::a_factor_must_divide_for_an_upcast(layout, n);
    return shape_div(a, b);
  };
  Layout out = layout;
  for (int k = 0; k < layout.shape.leaves(); ++k) {
    const index_t d = layout.stride.leaf(k);
    if (d == 0 || d == dynamic) continue;
    const index_t wide = divide(n, d < 0 ? -d : d);
    out.shape.numbers.set(k, divide(layout.shape.leaf(k), wide));
    out.stride.numbers.set(k, divide(d, n));
  }
  return out;
}

/// The layout in elements n times as narrow: the contiguous mode grows n times as long, other
/// strides n times as large. Error(shape) where n is below 1 or a product exceeds 64 bits.
constexpr Layout downcast(const Layout& layout, index_t n) {
  if (n <= 0) refused::a_factor_must_be_positive({"downcast", &layout}, n);
  Layout out = layout;
  for (int k = 0; k < layout.shape.leaves(); ++k) {
    const index_t d = layout.stride.leaf(k);
    if (d == 1 || d == -1) out.shape.numbers.set(k, checked_mul(layout.shape.leaf(k), n));
    else out.stride.numbers.set(k, checked_mul(d, n));
  }
  return out;
}

/// Some modes, in the order given: sublayout((2,3,4):(12,4,1), 0, 2) is (2,4):(12,1).
template <class... Modes>
constexpr Layout sublayout(const Layout& layout, int first, Modes... others) {
  LayoutBuilder out;
  out.push(layout.mode(first));
  (out.push(layout.mode(static_cast<int>(others))), ...);
  return out.done();
}

/// One more mode at the end.
constexpr Layout append(const Layout& layout, const Layout& mode) {
  return Layout(append(layout.shape, mode.shape), append(layout.stride, mode.stride));
}

/// The modes in opposite order: (4,8):(8,1) -> (8,4):(1,8).
constexpr Layout transpose(const Layout& layout) {
  LayoutBuilder out;
  for (int m = layout.rank(); m-- > 0;) out.push(layout.mode(m));
  return out.done();
}

/// One stride expanded to column-major strides of a nested shape: expand_strides((2,(3,4)), 5) is
/// (5,(10,30)).
constexpr IntTuple expand_strides(const IntTuple& shape, index_t stride) {
  return prefix_product(shape, stride);
}

/// The layout with the brackets of `shape`, which must refine its own: expand_modes(12:2, (3,4)) is
/// (3,4):(2,6).
constexpr Layout expand_modes(const Layout& layout, const IntTuple& shape) {
  if (!compatible(layout.shape, shape)) refused::a_shape_must_refine_the_layouts_own(layout, shape);
  if (layout.shape.is_leaf()) return Layout(shape, expand_strides(shape, layout.stride.value()));
  LayoutBuilder out;
  for (int m = 0; m < layout.rank(); ++m) out.push(expand_modes(layout.mode(m), shape.mode(m)));
  return out.done();
}

/// The coordinate of linear position i.
constexpr IntTuple idx2crd(index_t i, const Layout& layout) { return idx2crd(i, layout.shape); }

/// The index of a coordinate, every step checked against overflow.
constexpr index_t crd2idx(const IntTuple& coordinate, const Layout& layout) {
  return crd2idx(coordinate, layout.shape, layout.stride);
}

/// Whether the layout is compact with the last mode fastest; modes of extent 1 may have any stride.
constexpr bool is_row_major(const Layout& layout) {
  index_t step = 1;
  for (int k = layout.shape.leaves(); k-- > 0;) {
    const index_t s = layout.shape.leaf(k);
    if (s == 1) continue;
    if (step == dynamic || layout.stride.leaf(k) != step) return false;
    step = checked_mul(step, s);
  }
  return true;
}

/// Whether consecutive coordinates of a mode are consecutive indices.
constexpr bool is_contiguous_dim(const Layout& layout, int mode) {
  const Layout m = coalesce(layout.mode(mode));
  return m.shape.is_leaf() && (m.shape.value() == 1 || m.stride.value() == 1);
}

}  // namespace tessera
