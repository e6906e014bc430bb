// Copies divided among the threads of a block or warp by a thread layout that the kernel names:
//
//   copy_with<row_major(8, 32)>(t, gA, sA);               // by the block
//   copy_with<row_major(4, 8)>(lane_of(t), gA, sA);       // by each warp
//   copy_with<row_major(8, 32), 4>(t, gA, sA);            // four elements at a time where possible
//
// Thread p copies the positions that the layout maps to p, repeated over the tile: threads that are
// neighbours in the layout copy neighbouring elements. Threads beyond the layout's size do nothing.
// Options as in
// copy_options.hpp. No barrier inside: add one before other threads read.
#pragma once

#include "tessera/ops/copy_options.hpp"
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {

/// This thread's number among the threads that copy.
struct ThreadNumber {
  index_t number;
};
/// This thread in its warp: each warp copies all of the tile.
template <class Thread>
TESSERA_KERNEL ThreadNumber lane_of(const Thread& t) {
  return {static_cast<index_t>(t.lane)};
}

namespace detail {

template <class Thread>
TESSERA_KERNEL index_t number_among(const Thread& t) {
  return static_cast<index_t>(static_cast<int>(t.thread));
}
TESSERA_HD constexpr index_t number_among(const ThreadNumber& t) { return t.number; }

/// Does every thread own equally many positions along a mode?
template <Layout Threads, int Mode, class Dst>
constexpr bool owns_evenly() {
  if (Dst::is_clipped || !is_flat(Dst::pattern)) return false;
  const index_t extent = Dst::pattern.shape.leaf(Mode);
  return extent != dynamic && extent % kThreadsAlong<Threads, Mode> == 0;
}

/// Visits the positions of `dst` that thread `p` owns.
template <Layout Threads, int Mode, class Dst, class Body, class... I>
TESSERA_HD constexpr void for_each_owned(const Dst& dst, index_t p, Body& body, I... outer) {
  if constexpr (Mode == Dst::rank) body(outer...);
  else if constexpr (owns_evenly<Threads, Mode, Dst>()) {
    constexpr index_t step = kThreadsAlong<Threads, Mode>;
    constexpr int count = static_cast<int>(Dst::pattern.shape.leaf(Mode) / step);
    const index_t first = thread_coordinate<Threads, Mode>(p);
    TESSERA_UNROLL
    for (int i = 0; i < count; ++i)
      for_each_owned<Threads, Mode + 1>(dst, p, body, outer..., first + i * step);
  } else {
    const index_t end = dst.template valid<Mode>();
    for (index_t i = thread_coordinate<Threads, Mode>(p); i < end;
         i += kThreadsAlong<Threads, Mode>)
      for_each_owned<Threads, Mode + 1>(dst, p, body, outer..., i);
  }
}

template <Layout Threads, class Src, class Dst, class Answers>
TESSERA_HD constexpr void copy_share(index_t p, const Src& src, const Dst& dst,
                                     const Answers& answers, Here here) {
  if (src.is_full() && dst.is_full()) {
    auto body = [&](auto... at) { copy_element<true>(src, dst, answers, here, at...); };
    for_each_owned<Threads, 0>(dst, p, body);
  } else {
    auto body = [&](auto... at) { copy_element<false>(src, dst, answers, here, at...); };
    for_each_owned<Threads, 0>(dst, p, body);
  }
}

/// A tensor whose type says that the last stride is 1; the caller has checked it.
template <class P, Layout L, class E>
TESSERA_HD constexpr auto with_unit_stride(const Tensor<P, L, E>& t) {
  constexpr Layout pattern{L.shape, L.stride.with_leaf(L.rank() - 1, 1)};
  return assemble<pattern>(
      t.data(), t.edge_value(), [&](auto i) { return t.template shape_leaf<i>(); },
      [&](auto i) { return t.template stride_leaf<i>(); });
}

template <class T>
constexpr bool may_have_unit_stride() {
  constexpr index_t stride = T::pattern.stride.leaf(T::pattern.stride.leaves() - 1);
  constexpr index_t extent = T::pattern.shape.leaf(T::pattern.shape.leaves() - 1);
  return is_flat(T::pattern) && (stride == 1 || stride == dynamic) && extent != 1;
}

/// vectorize<1, ..., 1, N>(t)
template <int N, class T>
TESSERA_HD constexpr auto vectorize_last(const T& t) {
  return [&]<int... M>(std::integer_sequence<int, M...>) {
    return vectorize<(M + 1 == T::rank ? index_t{N} : index_t{1})...>(t);
  }
  (std::make_integer_sequence<int, T::rank>{});
}
template <int N, class T>
TESSERA_HD constexpr bool can_vectorize_last(const T& t) {
  constexpr index_t extent = T::pattern.shape.leaf(T::rank - 1);
  if constexpr (extent != dynamic && extent % N != 0) return false;
  else {
    return [&]<int... M>(std::integer_sequence<int, M...>) {
      return t.template stride<T::rank - 1>() == 1 &&
             can_vectorize<(M + 1 == T::rank ? index_t{N} : index_t{1})...>(with_unit_stride(t));
    }
    (std::make_integer_sequence<int, T::rank>{});
  }
}
template <class T, int N>
constexpr bool may_vectorize_last() {
  if (!may_have_unit_stride<T>()) return false;
  const index_t extent = T::pattern.shape.leaf(T::pattern.shape.leaves() - 1);
  return extent == dynamic || extent % N == 0;
}

/// May elements of these two tensors be copied as bytes: the same type of 4, 8 or 16 bytes, both
/// sides addressable?
template <class Thread, class Src, class Dst>
constexpr bool moves_as_bytes() {
  if constexpr (!requires(Thread & t, const Src& src, const Dst& dst) {
                  t.template copy_async_bytes<4>(address_of(dst.data(), 0),
                                                 address_of(src.data(), 0), true);
                }) {
    return false;
  } else {
    constexpr std::size_t bytes = sizeof(typename Dst::value);
    return std::is_same_v<typename Src::value, typename Dst::value> &&
           (bytes == 4 || bytes == 8 || bytes == 16);
  }
}

template <Layout Threads, class Thread, class Src, class Dst>
TESSERA_HD constexpr void copy_share_async(Thread& t, const Src& src, const Dst& dst, Here here) {
  if constexpr (moves_as_bytes<Thread, Src, Dst>()) {
    constexpr int bytes = static_cast<int>(sizeof(typename Dst::value));
    const auto to = [&](auto... at) { return address_of(dst.data(), dst.offset(at...)); };
    const auto from = [&](index_t offset) { return address_of(src.data(), offset); };
    if (src.is_full()) {
      auto body = [&](auto... at) {
        t.template copy_async_bytes<bytes>(to(at...), from(src.offset(at...)), true);
      };
      for_each_owned<Threads, 0>(dst, number_among(t), body);
    } else {
      auto body = [&](auto... at) {
        const bool inside = src.contains(at...);
        t.template copy_async_bytes<bytes>(to(at...), from(inside ? src.offset(at...) : 0), inside);
      };
      for_each_owned<Threads, 0>(dst, number_among(t), body);
    }
  } else {
    [[maybe_unused]] const AsyncCopies async;
    copy_share<Threads>(number_among(t), src, dst, Answers<>(), here);
  }
}

/// Calls body(src, dst) with both in vectors of Width along the last mode where extents, strides
/// and alignment of both sides allow it, else unchanged.
template <int Width, class Src, class Dst, class Body>
TESSERA_HD constexpr void in_vectors(const Src& src, const Dst& dst, Body&& body) {
  if constexpr (Width > 1 && may_vectorize_last<Src, Width>() && may_vectorize_last<Dst, Width>()) {
    if (can_vectorize_last<Width>(src) && can_vectorize_last<Width>(dst)) {
      body(vectorize_last<Width>(with_unit_stride(src)),
           vectorize_last<Width>(with_unit_stride(dst)));
      return;
    }
  }
  body(src, dst);
}

template <Layout Threads, int Width, class Src, class Dst>
constexpr void require_copy_with() {
  static_assert(may_copy<Src, Dst>(),
                "copy_with<threads>(t, src, dst): source and destination have the same rank and "
                "the same extents");
  static_assert(Threads.is_static() && Threads.rank() == Dst::rank && numbers_all_threads(Threads),
                "copy_with<threads>: the thread layout has one mode for each mode of the tensors, "
                "and gives each thread number exactly once, such as row_major(2, 4)");
  static_assert(Width >= 1, "copy_with<threads, width>: the width is positive");
}

template <Layout Threads, int Width, class Thread, class Src, class Dst, class... Options>
TESSERA_HD constexpr void copy_shared_out(const Thread& t, const Src& src, const Dst& dst,
                                          Here here, const Options&... options) {
  require_copy_with<Threads, Width, Src, Dst>();
  const index_t p = number_among(t);
  constexpr index_t count = Threads.size();
  if (p >= count) return;
  const Answers<Options...> answers(options...);
  constexpr int width = Answers<Options...>::masks ? 1 : Width;
  in_vectors<width>(src, dst, [&](const auto& from, const auto& to) {
    copy_share<Threads>(p, from, to, answers, here);
  });
}

}  // namespace detail

/// dst = src, of equal extents, by the threads of the layout `Threads` (one mode
/// for each mode of the tensors). Width > 1: that many neighbours along the last mode move
/// together where extents, strides and alignment of both sides allow it; else one by one.
template <Layout Threads, int Width = 1, class Thread, AnyTensor Src, AnyTensor Dst>
TESSERA_HD constexpr void copy_with(const Thread& t, const Src& src, const Dst& dst,
                                    Here here = Here::current()) {
  detail::copy_shared_out<Threads, Width>(t, src, dst, here);
}
/// With options, reports name this line.
template <Layout Threads, int Width = 1, class Thread, AnyTensor Src, AnyTensor Dst, class First,
          class... Options>
requires(!std::is_same_v<First, Here>) TESSERA_HD
    constexpr void copy_with(const Thread& t, const Src& src, const Dst& dst, const First& first,
                             const Options&... options) {
  detail::copy_shared_out<Threads, Width>(t, src, dst, Here::current(), first, options...);
}

/// The same as an asynchronous copy: the destination may be read after commit(t), wait<N>(t) and a
/// barrier; elements past the edge of the source become zero. A plain copy, done at once, where
/// elements are converted or narrower than 4 bytes, and on engines without asynchronous copies.
template <Layout Threads, int Width = 1, class Thread, AnyTensor Src, AnyTensor Dst>
TESSERA_HD constexpr void copy_async_with(Thread& t, const Src& src, const Dst& dst,
                                          Here here = Here::current()) {
  detail::require_copy_with<Threads, Width, Src, Dst>();
  constexpr index_t count = Threads.size();
  if (detail::number_among(t) >= count) return;
  detail::in_vectors<Width>(src, dst, [&](const auto& from, const auto& to) {
    detail::copy_share_async<Threads>(t, from, to, here);
  });
}

}  // namespace tessera
