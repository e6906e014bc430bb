// distribute<row_major(2, 4)>(t, thread): the elements of t that one of 8 threads owns. Thread p
// owns the elements at the coordinates that the thread layout maps to p, plus multiples of the
// thread extents: neighbouring threads own neighbouring elements.
// A strided view; no element is copied. Clipped where t is, and where the threads do not divide t.
// A thread number outside the layout throws Error(shape) on the CPU.
#pragma once

#include "tessera/tensor/assemble.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

namespace detail {

/// The step of leaf `leaf`: the number of threads in the leaves before it, within its mode.
constexpr index_t threads_before(const IntTuple& shape, int first, int leaf) {
  index_t product = 1;
  for (int i = first; i < leaf; ++i) product *= shape.leaf(i);
  return product;
}

/// The contribution of leaf Leaf to a thread's coordinate in the mode that starts at leaf First.
template <Layout Threads, int First, int Leaf>
TESSERA_HD constexpr index_t leaf_coordinate(index_t thread) {
  constexpr index_t extent = Threads.shape.leaf(Leaf), stride = Threads.stride.leaf(Leaf);
  if constexpr (extent == 1 || stride == 0) return 0;
  else {
    constexpr index_t step = threads_before(Threads.shape, First, Leaf);
    return thread / stride % extent * step;
  }
}

/// The coordinate of thread `thread` in mode Mode of the thread layout.
template <Layout Threads, int Mode>
TESSERA_HD constexpr index_t thread_coordinate(index_t thread) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return (leaf_coordinate<Threads, leaves_before(Threads.shape, Mode),
                            leaves_before(Threads.shape, Mode) + I>(thread) +
            ...);
  }
  (std::make_integer_sequence<int, Threads.shape.mode(Mode).leaves()>{});
}

/// The threads along a mode.
template <Layout Threads, int Mode>
inline constexpr index_t kThreadsAlong = Threads.shape.mode(Mode).product();

/// Do the threads divide the tensor, so that every thread owns the same number of elements?
template <Layout L, Layout Threads>
constexpr bool threads_divide() {
  for (int m = 0; m < L.rank(); ++m) {
    const index_t extent = L.shape.leaf(m);
    if (extent == dynamic || extent % Threads.shape.mode(m).product() != 0) return false;
  }
  return true;
}

template <Layout L, Layout Threads>
constexpr Layout fragment_of() {
  Layout out = L;
  for (int m = 0; m < L.rank(); ++m) {
    const index_t extent = L.shape.leaf(m), threads = Threads.shape.mode(m).product();
    out.shape = out.shape.with_leaf(m, extent == dynamic ? dynamic : ceil_div(extent, threads));
    out.stride = out.stride.with_leaf(m, times(L.stride.leaf(m), threads));
  }
  return out;
}

/// Does this layout take every value in 0 .. size - 1 exactly once?
constexpr bool numbers_all_threads(const Layout& threads) {
  index_t next = 1;
  for (int found = 0; found < threads.shape.leaves(); ++found) {
    for (int i = 0; i < threads.shape.leaves(); ++i) {
      if (threads.stride.leaf(i) == next && threads.shape.leaf(i) > 1) {
        next *= threads.shape.leaf(i);
        break;
      }
    }
  }
  return next == threads.size();
}

}  // namespace detail

/// The share of thread number `thread` in t: (M,N) over threads (TM,TN) to (M/TM,N/TN), rounded up
/// and clipped where that is no whole number.
template <Layout Threads, class P, Layout L, class E>
TESSERA_HD constexpr auto distribute(const Tensor<P, L, E>& t, index_t thread) {
  using T = Tensor<P, L, E>;
  static_assert(Threads.is_static(), "the thread layout of distribute<...> is known when compiled");
  static_assert(Threads.rank() == T::rank,
                "the thread layout of distribute<...> has one mode for each mode of the tensor");
  static_assert(detail::numbers_all_threads(Threads),
                "the thread layout of distribute<...> gives each thread number exactly once, such "
                "as row_major(2, 4)");
  static_assert(detail::is_flat(L),
                "only a tensor without nested modes is distributed: coalesce it first");
  constexpr index_t threads = Threads.size();
  detail::require_thread(thread, threads);
  constexpr Layout pattern = detail::fragment_of<L, Threads>();

  const index_t start = [&]<int... M>(std::integer_sequence<int, M...>) {
    return t.offset(detail::thread_coordinate<Threads, M>(thread)...);
  }
  (std::make_integer_sequence<int, T::rank>{});
  const auto edge = [&] {
    if constexpr (!T::is_clipped && detail::threads_divide<L, Threads>()) return Whole{};
    else {
      return detail::clipped_by<T::rank>([&](auto m) {
        const index_t rest = t.template valid<m>() - detail::thread_coordinate<Threads, m>(thread);
        return rest <= 0 ? 0 : ceil_div(rest, detail::kThreadsAlong<Threads, m>);
      });
    }
  }();
  return detail::assemble<pattern>(
      t.data() + start, edge,
      [&](auto m) { return ceil_div(t.template extent<m>(), detail::kThreadsAlong<Threads, m>); },
      [&](auto m) { return t.template stride<m>() * detail::kThreadsAlong<Threads, m>; });
}

}  // namespace tessera
