// Layout: a function from coordinates to indices, shape:stride, as a value. (4,8):(8,1) takes (i,j)
// to 8i + j; shapes nest, ((2,2),8):((1,16),2) takes ((i,j),k) to i + 16j + 2k. The first mode runs
// fastest when a layout is called with one integer. A Layout may be a template argument; extents
// and strides that are only known at run time are `dynamic` there.
//
// Coordinates are not checked against the extents here (the checker and the tensors do that). It
// knows nothing of memory or element types.
#pragma once

#include <type_traits>
#include <utility>

#include "tessera/layout/int_tuple.hpp"

#if defined(__CUDACC__)
// Errors are host functions; in device code the call is left out and the value stays unspecified.
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20011, 20014
#endif

namespace tessera {

/// Column-major strides: the first number of `shape` runs fastest. Nested as the shape is.
constexpr IntTuple col_major_stride(const IntTuple& shape) {
  IntTuple stride = shape;
  index_t step = 1;
  for (int k = 0; k < shape.count; ++k) {
    stride.numbers.set(k, step);
    step = checked_mul(step, shape.leaf(k));
  }
  return stride;
}

/// Row-major strides: the last number of `shape` runs fastest.
constexpr IntTuple row_major_stride(const IntTuple& shape) {
  IntTuple stride = shape;
  index_t step = 1;
  for (int k = shape.count; k-- > 0;) {
    stride.numbers.set(k, step);
    step = checked_mul(step, shape.leaf(k));
  }
  return stride;
}

/// shape:stride; the two nest alike, and no extent is negative. Strides count elements, any sign.
struct Layout {
  IntTuple shape, stride;

  /// 1:0, the layout of a single element.
  constexpr Layout() : shape(1), stride(0) {}
  /// Column-major.
  constexpr Layout(const IntTuple& shape_) : Layout(shape_, col_major_stride(shape_)) {}
  /// Error(shape) where the two nest differently or an extent is negative. (In a constant
  /// expression such an error stops the compiler.)
  constexpr Layout(const IntTuple& shape_, const IntTuple& stride_)
      : shape(shape_), stride(stride_) {
    if (!congruent(shape, stride)) refused::shape_and_stride_must_nest_alike(shape, stride);
    for (int k = 0; k < shape.count; ++k)
      if (shape.leaf(k) < 0 && shape.leaf(k) != dynamic)
        refused::an_extent_must_not_be_negative(shape);
  }

  TESSERA_HD constexpr int rank() const { return shape.rank(); }
  constexpr Layout mode(int i) const {
    if (i < 0 || i >= rank()) refused::this_layout_has_no_such_mode(*this, i);
    return Layout(shape.mode(i), stride.mode(i));
  }
  constexpr Layout operator[](int i) const { return mode(i); }

  TESSERA_HD constexpr bool is_static() const { return shape.is_static() && stride.is_static(); }

  /// How many coordinates; dynamic when an extent is.
  TESSERA_HD constexpr index_t size() const { return shape.product(); }

  /// One more than the largest index, 0 when empty; with negative strides, the length of the range
  /// of indices. Dynamic when it depends on a dynamic number.
  TESSERA_HD constexpr index_t cosize() const {
    if (shape.product() == 0) return 0;
    index_t last = 0;
    for (int k = 0; k < shape.count; ++k) {
      if (shape.leaf(k) == dynamic || stride.leaf(k) == dynamic) return dynamic;
      const index_t step = stride.leaf(k) < 0 ? -stride.leaf(k) : stride.leaf(k);
      last = checked_add(last, checked_mul(shape.leaf(k) - 1, step));
    }
    return checked_add(last, 1);
  }

  /// The index of a coordinate: one number (the first mode runs fastest), one per mode, or nested
  /// tuples. L(i, j) of a flat layout is i * stride0 + j * stride1, folded when L is a constant.
  template <class... Coordinates>
  [[gnu::always_inline]] TESSERA_HD constexpr index_t operator()(
      const Coordinates&... coordinates) const;

  friend constexpr bool operator==(const Layout&, const Layout&) = default;
};

namespace detail {

/// The index of the linear coordinate i in the leaves [begin, end): the last leaf takes the
/// remaining quotient.
TESSERA_HD constexpr index_t index_of_linear(const Layout& layout, int begin, int end, index_t i) {
  index_t index = 0;
  for (int k = begin; k + 1 < end; ++k) {
    const index_t extent = layout.shape.leaf(k);
    if (extent == dynamic)
      refused::this_needs_an_extent_that_is_only_known_at_run_time(layout.shape);
    if (extent == 0) return 0;
    if (layout.stride.leaf(k) == dynamic)
      refused::this_needs_a_stride_that_is_only_known_at_run_time(layout);
    index += i % extent * layout.stride.leaf(k);
    i /= extent;
  }
  if (layout.stride.leaf(end - 1) == dynamic)
    refused::this_needs_a_stride_that_is_only_known_at_run_time(layout);
  return index + i * layout.stride.leaf(end - 1);
}

/// The index of a nested coordinate in a layout of the same or finer nesting.
constexpr index_t index_of_tuple(const Layout& layout, const IntTuple& coordinate) {
  if (coordinate.is_leaf()) {
    return index_of_linear(layout, 0, layout.shape.count, coordinate.value());
  }
  if (coordinate.rank() != layout.rank() || layout.shape.is_leaf())
    refused::coordinate_and_shape_must_nest_alike(coordinate, layout.shape);
  index_t index = 0;
  for (int m = 0; m < coordinate.rank(); ++m)
    index += index_of_tuple(layout.mode(m), coordinate.mode(m));
  return index;
}

/// The index of one coordinate per mode, some of them tuples or of hierarchical modes.
template <class... Coordinates>
TESSERA_HD constexpr index_t index_of_modes(const Layout& layout,
                                            const Coordinates&... coordinates) {
  if (layout.rank() != static_cast<int>(sizeof...(Coordinates)))
    refused::the_number_of_coordinates_must_be_one_or_the_rank(layout, sizeof...(Coordinates));
  int mode = 0;
  index_t index = 0;
  const auto add = [&](const auto& coordinate) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(coordinate)>>) {
      index += index_of_linear(layout, layout.shape.mode_begin(mode),
                               layout.shape.mode_begin(mode + 1), static_cast<index_t>(coordinate));
    } else {
      index += index_of_tuple(layout.mode(mode), coordinate);
    }
    ++mode;
  };
  (add(coordinates), ...);
  return index;
}

/// coordinate * stride(k).
template <class C>
[[gnu::always_inline]] TESSERA_HD constexpr index_t times_stride(const Layout& layout, int k,
                                                                 C coordinate) {
  const index_t step = layout.stride.leaf(k);
  if (step == dynamic) refused::this_needs_a_stride_that_is_only_known_at_run_time(layout);
  return static_cast<index_t>(coordinate) * step;
}

}  // namespace detail

template <class... Coordinates>
TESSERA_HD constexpr index_t Layout::operator()(const Coordinates&... coordinates) const {
  constexpr int kGiven = static_cast<int>(sizeof...(Coordinates));
  static_assert(kGiven > 0, "a layout is called with one coordinate per mode, or a single one");
  constexpr bool kNumbers = (std::is_integral_v<Coordinates> && ...);
  if constexpr (kGiven == 1 && kNumbers) {
    if (shape.is_leaf()) return (detail::times_stride(*this, 0, coordinates) + ...);
    return (detail::index_of_linear(*this, 0, shape.count, static_cast<index_t>(coordinates)) +
            ...);
  } else if constexpr (kGiven == 1) {
    return (detail::index_of_tuple(*this, IntTuple(coordinates)) + ...);
  } else {
    if constexpr (kNumbers) {
      if (shape.count == kGiven && shape.is_flat()) {
        int k = 0;
        index_t index = 0;
        ((index += detail::times_stride(*this, k++, coordinates)), ...);
        return index;
      }
    }
    return detail::index_of_modes(*this, coordinates...);
  }
}

namespace detail {

/// The arguments as a shape; a single tuple is the shape itself.
template <class... Extents>
constexpr IntTuple shape_of(const Extents&... extents) {
  if constexpr (sizeof...(Extents) == 1) return (IntTuple(extents), ...);
  else return tuple(extents...);
}

}  // namespace detail

/// row_major(4, 8) is (4,8):(8,1); extents may be nested tuples or `dynamic`, and strides that
/// depend on a dynamic extent are dynamic.
template <class... Extents>
constexpr Layout row_major(const Extents&... extents) {
  const IntTuple shape = detail::shape_of(extents...);
  return Layout(shape, row_major_stride(shape));
}

/// col_major(4, 8) is (4,8):(1,4).
template <class... Extents>
constexpr Layout col_major(const Extents&... extents) {
  return Layout(detail::shape_of(extents...));
}

namespace detail {

/// The linear coordinate i over the leaves Begin + K..., unrolled.
template <Layout L, int Begin, int... K>
[[gnu::always_inline]] TESSERA_HD constexpr index_t unrolled_linear(
    index_t i, std::integer_sequence<int, K...>) {
  index_t index = 0;
  constexpr int kLast = static_cast<int>(sizeof...(K)) - 1;
  const auto add = [&]<int Leaf>(std::integral_constant<int, Leaf>) {
    constexpr index_t kExtent = L.shape.leaf(Begin + Leaf), kStride = L.stride.leaf(Begin + Leaf);
    static_assert(kStride != dynamic, "this stride is only known at run time");
    if constexpr (Leaf == kLast) index += i * kStride;
    else {
      static_assert(kExtent != dynamic, "this extent is only known at run time");
      if constexpr (kExtent > 0) {
        index += i % kExtent * kStride;
        i /= kExtent;
      }
    }
  };
  (add(std::integral_constant<int, K>{}), ...);
  return index;
}

template <Layout L, int... M, class... Coordinates>
[[gnu::always_inline]] TESSERA_HD constexpr index_t unrolled_modes(std::integer_sequence<int, M...>,
                                                                   Coordinates... coordinates) {
  return (
      unrolled_linear<L, L.shape.mode_begin(M)>(
          static_cast<index_t>(coordinates),
          std::make_integer_sequence<int, L.shape.mode_begin(M + 1) - L.shape.mode_begin(M)>{}) +
      ...);
}

}  // namespace detail

/// L(coordinates...) for integers, with every extent and stride of L folded into the code, also
/// where modes are hierarchical.
template <Layout L, class... Coordinates>
[[gnu::always_inline]] TESSERA_HD constexpr index_t index_of(Coordinates... coordinates) {
  static_assert((std::is_integral_v<Coordinates> && ...), "index_of takes whole numbers");

  constexpr int kGiven = static_cast<int>(sizeof...(Coordinates));
  static_assert(kGiven == 1 || kGiven == L.rank(),
                "a layout is called with one coordinate per mode, or a single one");
  if constexpr (kGiven == 1) {
    return detail::unrolled_linear<L, 0>((static_cast<index_t>(coordinates) + ...),
                                         std::make_integer_sequence<int, L.shape.leaves()>{});
  } else {
    return detail::unrolled_modes<L>(std::make_integer_sequence<int, kGiven>{}, coordinates...);
  }
}

constexpr bool is_static(const Layout& layout) { return layout.is_static(); }
constexpr int rank(const Layout& layout) { return layout.rank(); }
constexpr index_t size(const Layout& layout) { return layout.size(); }
constexpr index_t cosize(const Layout& layout) { return layout.cosize(); }

}  // namespace tessera

#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
