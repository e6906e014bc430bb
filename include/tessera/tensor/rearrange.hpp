// Other layouts of the same elements, computed by the layout algebra; no element is copied.
//
//   coalesce(t)         as few modes as possible, in the order of the layout (first mode fastest)
//   composition<By>(t)  element i of the result is element By(i) of t
//   reshape<6, 4>(t)    other extents, elements in row-major order as in NumPy
//   reshape(t, m, n)    the same with extents known at run time only
//
// A clipped tensor is refused: what exists of it would not be a rectangle in the new shape.
#pragma once

#include "tessera/layout/coalesce.hpp"
#include "tessera/layout/compose.hpp"
#include "tessera/layout/modes.hpp"
#include "tessera/tensor/assemble.hpp"
#include "tessera/tensor/refused.hpp"

namespace tessera {

namespace detail {

/// Which leaves of a layout coalesce into each leaf of the result: extents multiply, the stride is
/// that of the first leaf whose extent is not 1.
struct CoalescePlan {
  Layout layout;
  Leaves first, last;  // per leaf of the result
};

constexpr CoalescePlan plan_coalesce(const Layout& layout) {
  CoalescePlan plan;
  LayoutBuilder out;
  int begin = -1;
  index_t extent = 1, stride = 0;
  const auto finish = [&](int end) {
    if (begin < 0) return;
    plan.first.set(out.pushed(), begin);
    plan.last.set(out.pushed(), end);
    out.push(Layout(extent, stride));
  };
  int end = 0;
  for (int k = 0; k < layout.shape.leaves(); ++k) {
    const index_t s = layout.shape.leaf(k), d = layout.stride.leaf(k);
    if (s == 1) continue;
    const index_t next = times(extent, stride);
    if (begin >= 0 && d != dynamic && next != dynamic && next == d) {
      extent = times(extent, s);
    } else {
      finish(end);
      begin = k;
      extent = s;
      stride = d;
    }
    end = k;
  }
  finish(end);
  plan.layout = out.done();
  return plan;
}

template <class P, Layout New, Layout L>
TESSERA_HD constexpr auto with_layout(const Tensor<P, L>& t) {
  return Tensor<P, New>(t.data(), {}, Whole{});
}

/// The layout that visits the elements in row-major order of the new shape in the same order as
/// `layout` does in its own.
constexpr Layout reshaped(const Layout& layout, const IntTuple& shape) {
  const Layout walked = transpose(layout);  // row-major order is first mode fastest, reversed
  const Layout to(transpose(Layout(shape, shape)).shape);
  return transpose(composition(walked, to));
}

template <class Tensor>
constexpr void require_whole() {
  static_assert(!Tensor::is_clipped,
                "reshape, coalesce and composition need a tensor that is not clipped: copy the "
                "tile first, or tile a tensor whose extents are multiples of the tile");
}

}  // namespace detail

/// The same elements in as few modes as possible. Unknown numbers merge only where that is certain.
template <class P, Layout L, class E>
TESSERA_HD constexpr auto coalesce(const Tensor<P, L, E>& t) {
  detail::require_whole<Tensor<P, L, E>>();
  constexpr detail::CoalescePlan plan = detail::plan_coalesce(L);
  return detail::assemble<plan.layout>(
      t.data(), Whole{},
      [&](auto leaf) {
        constexpr int first = static_cast<int>(detail::plan_coalesce(L).first[leaf]);
        constexpr int last = static_cast<int>(detail::plan_coalesce(L).last[leaf]);
        return [&]<int... K>(std::integer_sequence<int, K...>) {
          return (index_t{1} * ... * t.template shape_leaf<first + K>());
        }
        (std::make_integer_sequence<int, last - first + 1>{});
      },
      [&](auto leaf) {
        constexpr int first = static_cast<int>(detail::plan_coalesce(L).first[leaf]);
        return t.template stride_leaf<first>();
      });
}

/// Element i of the result is element By(i) of t, first mode fastest on both sides.
template <Layout By, class P, Layout L, class E>
TESSERA_HD constexpr auto composition(const Tensor<P, L, E>& t) {
  detail::require_whole<Tensor<P, L, E>>();
  static_assert(L.is_static() && By.is_static(),
                "composition<layout>(t) needs a tensor whose layout is known when compiled");
  static_assert(By.cosize() <= L.size(),
                "composition<layout>(t): the layout reaches beyond the elements of the tensor");
  return detail::with_layout<P, composition(L, By), L>(t);
}

/// The same elements with other extents, in row-major order (last mode fastest) on both sides.
template <index_t... Extents, class P, Layout L, class E>
requires(sizeof...(Extents) > 0) TESSERA_HD constexpr auto reshape(const Tensor<P, L, E>& t) {
  detail::require_whole<Tensor<P, L, E>>();
  static_assert(L.is_static(),
                "reshape<extents...>(t) needs a tensor whose layout is known when compiled: use "
                "reshape(t, extents...)");
  static_assert((index_t{1} * ... * Extents) == L.size(),
                "reshape<extents...>(t): the number of elements must stay the same");
  return detail::with_layout<P, detail::reshaped(L, tuple(Extents...)), L>(t);
}

/// The same with extents known at run time: t must be compact, last mode fastest. Throws
/// Error(shape) on the CPU where it is not.
template <class P, Layout L, class E, class... I>
requires(sizeof...(I) > 0 && (std::is_convertible_v<I, index_t> && ...)) TESSERA_HD
    constexpr auto reshape(const Tensor<P, L, E>& t, I... extents) {
  detail::require_whole<Tensor<P, L, E>>();
  static_assert(detail::is_flat(L), "reshape: only a tensor without nested modes");
  bool compact = true;
  index_t step = 1;
  detail::for_each_number<L.rank()>([&](auto m) {
    constexpr int mode = L.rank() - 1 - m;
    compact = compact && (t.template extent<mode>() <= 1 || t.template stride<mode>() == step);
    step *= t.template extent<mode>();
  });
  const index_t shape[] = {static_cast<index_t>(extents)...};
  constexpr int rank = static_cast<int>(sizeof...(I));
  detail::require_reshape(step, shape, rank, compact || step == 0);
  constexpr Layout pattern = [] {
    Layout out = row_major((void(sizeof(I)), dynamic)...);
    return out;
  }();
  return detail::assemble<pattern>(
      t.data(), Whole{}, [&](auto m) { return shape[m]; },
      [&](auto m) {
        index_t stride = 1;
        for (int i = m + 1; i < rank; ++i) stride *= shape[i];
        return stride;
      });
}

}  // namespace tessera
