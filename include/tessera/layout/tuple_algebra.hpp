// Arithmetic on nested tuples: congruence and compatibility, products, division of shapes,
// coordinates from indices and back. Functions of shapes alone; layouts are in algebra.hpp.
#pragma once

#include "tessera/layout/int_tuple.hpp"

namespace tessera {

/// Builds a tuple with the brackets of `like` and the numbers f(0), f(1), ... leaf by leaf.
template <class F>
constexpr IntTuple with_leaves(const IntTuple& like, F&& f) {
  IntTuple out = like;
  for (int k = 0; k < like.leaves(); ++k) out.numbers.set(k, f(k));
  return out;
}

/// Builds a tuple from f(mode) for each mode.
template <class F>
constexpr IntTuple transform_modes(const IntTuple& t, F&& f) {
  TupleBuilder out;
  for (int m = 0; m < t.rank(); ++m) out.push(f(t.mode(m)));
  return out.done();
}

/// The nesting of b refines that of a: leaves of a may be tuples in b. Compares brackets only, not
/// numbers.
constexpr bool weakly_congruent(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return true;
  if (b.is_leaf() || a.rank() != b.rank()) return false;
  for (int m = 0; m < a.rank(); ++m)
    if (!weakly_congruent(a.mode(m), b.mode(m))) return false;
  return true;
}

/// Shape b refines shape a: a coordinate of a is a coordinate of b, and the sizes agree, mode by
/// mode.
constexpr bool compatible(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return a.value() == b.product();
  if (b.is_leaf() || a.rank() != b.rank()) return false;
  for (int m = 0; m < a.rank(); ++m)
    if (!compatible(a.mode(m), b.mode(m))) return false;
  return true;
}

/// As compatible, but each size of b need only be a multiple of that of a.
constexpr bool weakly_compatible(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return a.value() != 0 && b.product() % a.value() == 0;
  if (b.is_leaf() || a.rank() != b.rank()) return false;
  for (int m = 0; m < a.rank(); ++m)
    if (!weakly_compatible(a.mode(m), b.mode(m))) return false;
  return true;
}

/// (2,(3,4)) -> (2,12): the product of each mode.
constexpr IntTuple product_each(const IntTuple& t) {
  return transform_modes(t, [](const IntTuple& mode) { return IntTuple(mode.product()); });
}

constexpr index_t sum(const IntTuple& t) {
  index_t all = 0;
  for (int k = 0; k < t.leaves(); ++k) all = checked_add(all, t.leaf(k));
  return all;
}

constexpr index_t max(const IntTuple& t) {
  index_t most = t.leaf(0);
  for (int k = 1; k < t.leaves(); ++k) most = t.leaf(k) > most ? t.leaf(k) : most;
  return most;
}

constexpr index_t min(const IntTuple& t) {
  index_t least = t.leaf(0);
  for (int k = 1; k < t.leaves(); ++k) least = t.leaf(k) < least ? t.leaf(k) : least;
  return least;
}

/// The sum of the products of the numbers, pair by pair.
constexpr index_t inner_product(const IntTuple& a, const IntTuple& b) {
  if (!congruent(a, b)) refused::shape_and_stride_must_nest_alike(a, b);
  index_t all = 0;
  for (int k = 0; k < a.leaves(); ++k) all = checked_add(all, checked_mul(a.leaf(k), b.leaf(k)));
  return all;
}

/// (3,(2,4)) -> (1,(3,6)), times `first`: each number becomes the product of those before it.
constexpr IntTuple prefix_product(const IntTuple& t, index_t first = 1) {
  index_t step = first;
  return with_leaves(t, [&](int k) {
    const index_t here = step;
    step = checked_mul(step, t.leaf(k));
    return here;
  });
}

/// The brackets of `t`, every number `value`.
constexpr IntTuple fill_like(const IntTuple& t, index_t value) {
  return with_leaves(t, [&](int) { return value; });
}

/// The brackets of `t`, every number dynamic.
constexpr IntTuple to_dynamic(const IntTuple& t) { return fill_like(t, dynamic); }

/// The modes in opposite order, at every level.
constexpr IntTuple reverse(const IntTuple& t) {
  if (t.is_leaf()) return t;
  TupleBuilder out;
  for (int m = t.rank(); m-- > 0;) out.push(reverse(t.mode(m)));
  return out.done();
}

/// The modes of a, then b as one more mode.
constexpr IntTuple append(const IntTuple& a, const IntTuple& b) {
  TupleBuilder out;
  for (int m = 0; m < a.rank(); ++m) out.push(a.mode(m));
  out.push(b);
  return out.done();
}

/// The modes of a, then the modes of b.
constexpr IntTuple extend(const IntTuple& a, const IntTuple& b) {
  TupleBuilder out;
  for (int m = 0; m < a.rank(); ++m) out.push(a.mode(m));
  for (int m = 0; m < b.rank(); ++m) out.push(b.mode(m));
  return out.done();
}

/// t with mode i replaced.
constexpr IntTuple replace(const IntTuple& t, int i, const IntTuple& mode) {
  if (i < 0 || i >= t.rank()) refused::there_is_no_such_mode(t, i);
  TupleBuilder out;
  for (int m = 0; m < t.rank(); ++m) out.push(m == i ? mode : t.mode(m));
  return out.done();
}

/// Pairs the modes: ((a0,b0),(a1,b1),...).
constexpr IntTuple zip(const IntTuple& a, const IntTuple& b) {
  if (a.rank() != b.rank()) refused::tuples_to_zip_must_have_as_many_modes(a, b);
  TupleBuilder out;
  for (int m = 0; m < a.rank(); ++m) out.push(tuple(a.mode(m), b.mode(m)));
  return out.done();
}

/// The numbers of a level of modes in rising order.
constexpr IntTuple sorted(const IntTuple& t) {
  IntTuple out = flatten(t);
  for (int i = 1; i < out.leaves(); ++i)
    for (int j = i; j > 0 && out.leaf(j) < out.leaf(j - 1); --j)
      out = out.with_leaf(j, out.leaf(j - 1)).with_leaf(j - 1, out.leaf(j));
  return out;
}

/// a / b for extents of which one divides the other: 1 when b is the larger.
constexpr index_t shape_div(index_t a, index_t b) {
  if (b == 1 || a == b) return b == 1 ? a : 1;
  if (a == dynamic || b == dynamic) return dynamic;
  if (a == 0) return 0;
  if (b == 0 || (a % b != 0 && b % a != 0)) refused::one_extent_must_divide_the_other(a, b);
  return a % b == 0 ? a / b : (a < 0) != (b < 0) ? -1 : 1;
}

/// Divides a shape: (3,4) by 6 is (1,2), the first modes are used up first.
constexpr IntTuple shape_div(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return IntTuple(shape_div(a.value(), b.product()));
  if (b.is_leaf()) {
    index_t rest = b.value();
    return with_leaves(a, [&](int k) {
      const index_t here = shape_div(a.leaf(k), rest);
      rest = shape_div(rest, a.leaf(k));
      return here;
    });
  }
  if (a.rank() != b.rank()) refused::shapes_to_divide_must_have_as_many_modes(a, b);
  TupleBuilder out;
  for (int m = 0; m < a.rank(); ++m) out.push(shape_div(a.mode(m), b.mode(m)));
  return out.done();
}

/// The coordinate of linear position i in a shape, first mode fastest: 5 in (2,(3,4)) is (1,(2,0)).
/// The last number takes the remaining quotient.
constexpr IntTuple idx2crd(index_t i, const IntTuple& shape) {
  return with_leaves(shape, [&](int k) {
    if (k + 1 == shape.leaves()) return i;
    const index_t extent = shape.leaf(k);
    if (extent == dynamic) refused::this_needs_an_extent_that_is_only_known_at_run_time(shape);
    if (extent == 0) return index_t{0};
    const index_t here = i % extent;
    i /= extent;
    return here;
  });
}

/// The coordinate whose index is i under compact or other strides: (i / stride) % shape each.
constexpr IntTuple idx2crd(index_t i, const IntTuple& shape, const IntTuple& stride) {
  if (!congruent(shape, stride)) refused::shape_and_stride_must_nest_alike(shape, stride);
  return with_leaves(shape, [&](int k) {
    const index_t extent = shape.leaf(k), step = stride.leaf(k);
    if (extent == dynamic || step == dynamic)
      refused::this_needs_an_extent_that_is_only_known_at_run_time(shape);
    return extent <= 1 || step == 0 ? index_t{0} : i / step % extent;
  });
}

/// The index of a coordinate, with every sum and product checked against overflow. A number stands
/// for a whole tuple of modes.
constexpr index_t crd2idx(const IntTuple& coordinate, const IntTuple& shape,
                          const IntTuple& stride) {
  if (coordinate.is_leaf()) {
    const IntTuple split = idx2crd(coordinate.value(), shape);
    index_t index = 0;
    for (int k = 0; k < shape.leaves(); ++k)
      index = checked_add(index, checked_mul(split.leaf(k), stride.leaf(k)));
    return index;
  }
  if (shape.is_leaf() || coordinate.rank() != shape.rank())
    refused::coordinate_and_shape_must_nest_alike(coordinate, shape);
  index_t index = 0;
  for (int m = 0; m < shape.rank(); ++m)
    index = checked_add(index, crd2idx(coordinate.mode(m), shape.mode(m), stride.mode(m)));
  return index;
}

/// Compact strides in a given order: the number with the smallest order runs fastest. An order may
/// be coarser than the shape; then the modes below it are column-major. compact_order((2,3),(1,0))
/// is (3,1). Equal orders: from left to right.
constexpr IntTuple compact_order(const IntTuple& shape, const IntTuple& order) {
  if (!weakly_congruent(order, shape)) refused::an_order_needs_one_number_per_mode(shape, order);
  // The order of each leaf: leaf by leaf the first number of `order` that covers it.
  IntTuple rank_of = fill_like(shape, 0);
  struct Spread {
    static constexpr int leaves(const IntTuple& shape, const IntTuple& order, IntTuple& out,
                                int at) {
      if (order.is_leaf()) {
        for (int k = 0; k < shape.leaves(); ++k) out.numbers.set(at + k, order.value());
        return at + shape.leaves();
      }
      for (int m = 0; m < order.rank(); ++m) at = leaves(shape.mode(m), order.mode(m), out, at);
      return at;
    }
  };
  Spread::leaves(shape, order, rank_of, 0);
  IntTuple stride = fill_like(shape, 0);
  std::uint32_t done = 0;
  index_t step = 1;
  for (int placed = 0; placed < shape.leaves(); ++placed) {
    int next = -1;
    for (int k = 0; k < shape.leaves(); ++k)
      if (!(done >> k & 1u) && (next < 0 || rank_of.leaf(k) < rank_of.leaf(next))) next = k;
    done |= 1u << next;
    stride.numbers.set(next, step);
    step = checked_mul(step, shape.leaf(next));
  }
  return stride;
}

}  // namespace tessera
