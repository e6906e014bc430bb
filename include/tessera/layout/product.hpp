// Products: a block repeated. logical_product gives (block, repetition); blocked_product and
// raked_product pair the modes, block inside or repetition inside; tile_to_shape repeats a block
// until it fills a shape.
#pragma once

#include "tessera/layout/compose.hpp"

namespace tessera {

namespace detail {

/// logical_product for the function `call`, which error messages name.
constexpr Layout product_for(const refused::Call& call, const Layout& block, const Layout& by) {
  const index_t n = checked_mul(block.size(), by.cosize());
  return make_layout(block, composition_for(call, complement_for(call, block, n), by));
}

}  // namespace detail

/// (block, repetition): the repetition has the shape of `by` and covers the complement of the
/// block. Error(shape) where the block is empty, overlaps itself, has a negative stride, or several
/// modes with numbers known only at run time; and where an extent or stride of `by` does not divide
/// the part of the complement that it covers.
constexpr Layout logical_product(const Layout& block, const Layout& by) {
  return detail::product_for({"logical_product", &block, &by}, block, by);
}

/// ((block0,by0),(block1,by1),...).
constexpr Layout logical_product(const Layout& block, const Tiler& by) {
  return transform_modes(block, by,
                         [](const Layout& a, const Layout& b) { return logical_product(a, b); });
}

/// A layout with at least `rank` modes: modes 1:0 are added.
constexpr Layout pad_rank(const Layout& layout, int rank) {
  if (layout.rank() >= rank) return layout;
  LayoutBuilder out;
  for (int m = 0; m < layout.rank(); ++m) out.push(layout.mode(m));
  while (out.pushed() < rank) out.push(Layout());
  return out.done();
}

namespace detail {

enum class Inner { block, repetition };

constexpr Layout paired_product(const Layout& block, const Layout& by, Inner inner) {
  const int rank = block.rank() > by.rank() ? block.rank() : by.rank();
  const refused::Call call{inner == Inner::block ? "blocked_product" : "raked_product", &block,
                           &by};
  const Layout both = product_for(call, pad_rank(block, rank), pad_rank(by, rank));
  if (rank == 1) return inner == Inner::block ? both : make_layout(both.mode(1), both.mode(0));
  const Layout a = both.mode(inner == Inner::block ? 0 : 1);
  const Layout b = both.mode(inner == Inner::block ? 1 : 0);
  LayoutBuilder out;
  for (int m = 0; m < rank; ++m) out.push(make_layout(a.mode(m), b.mode(m)));
  return out.done();
}

}  // namespace detail

/// Blocks side by side: blocked_product((2,5):(5,1), (3,4):(1,3)) is ((2,3),(5,4)):((5,10),(1,30)).
/// Errors as logical_product.
constexpr Layout blocked_product(const Layout& block, const Layout& by) {
  return detail::paired_product(block, by, detail::Inner::block);
}

/// Blocks interleaved: neighbours belong to different blocks. Errors as logical_product.
constexpr Layout raked_product(const Layout& block, const Layout& by) {
  return detail::paired_product(block, by, detail::Inner::repetition);
}

/// Compact strides, the mode with the smallest order fastest: make_ordered_layout((2,3),(1,0)) is
/// (2,3):(3,1).
constexpr Layout make_ordered_layout(const IntTuple& shape, const IntTuple& order) {
  return Layout(shape, compact_order(shape, order));
}

/// The block repeated to fill `shape`, the repetitions in `order`, the smallest number fastest.
/// Error(shape) where a mode of the block is empty, known only at run time or does not divide that
/// of the shape; and as logical_product.
constexpr Layout tile_to_shape(const Layout& block, const IntTuple& shape, const IntTuple& order) {
  const int rank = block.rank() > shape.rank() ? block.rank() : shape.rank();
  const Layout padded = pad_rank(block, rank);
  TupleBuilder repeats;
  for (int m = 0; m < rank; ++m) {
    const index_t target = m < shape.rank() ? shape.mode(m).product() : 1;
    const index_t tile = padded.mode(m).size();
    if (tile == dynamic) refused::this_needs_an_extent_that_is_only_known_at_run_time(padded.shape);
    if (tile == 0 || (target != dynamic && target % tile != 0))
      refused::a_tile_must_divide_the_shape_it_fills(block, shape);
    repeats.push(target == dynamic ? dynamic : target / tile);
  }
  return blocked_product(padded, make_ordered_layout(repeats.done(), order));
}

/// The same with the first mode of the shape fastest.
constexpr Layout tile_to_shape(const Layout& block, const IntTuple& shape) {
  const int rank = block.rank() > shape.rank() ? block.rank() : shape.rank();
  TupleBuilder order;
  for (int m = 0; m < rank; ++m) order.push(m);
  return tile_to_shape(block, shape, order.done());
}

}  // namespace tessera
