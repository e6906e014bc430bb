// Sums and maxima: of all elements of a tensor or along one mode by one thread, and of one value
// from each thread of a warp or block. Sums are kept in the accumulator type (f16 in f32, i8 in
// i32) and added in a fixed order, so results do not depend on the number of cores.
//
// The sum of nothing is 0, the maximum of nothing the lowest value. A maximum with a NaN is NaN.
// Along a mode, the destination has the extents that the source keeps, or, for a clipped source, at
// least the existing part of them; the CPU throws Error(shape) otherwise.
#pragma once

#include <limits>

#include "tessera/simt/dim3.hpp"
#include "tessera/tensor/arithmetic.hpp"

namespace tessera {

namespace detail {

template <class T>
TESSERA_HD constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::lowest();
}

struct Greater {
  template <class T>
  TESSERA_HD constexpr T operator()(const T& a, const T& b) const {
    if (a != a) return a;
    return b > a || b != b ? b : a;
  }
};

/// Checks the extents of dst against those of src without mode Mode; the fold of a vector is one
/// element.
template <int Mode, class Src, class Dst>
TESSERA_HD constexpr void require_folded(const Src& src, const Dst& dst) {
  for_each_number<Dst::rank>([&](auto m) {
    constexpr int kept = m < Mode ? m : m + 1;
    if constexpr (Src::rank == 1) require_fold(1, 1, dst.template extent<m>(), m);
    else {
      require_fold(src.template extent<kept>(), src.template valid<kept>(),
                   dst.template extent<m>(), m);
    }
  });
}

/// dst(rest) = src(..., i, ...) folded over i, for every position of the rest. Positions past the
/// edge of src are skipped.
template <int Mode, class Src, class Dst, class Op>
TESSERA_HD constexpr void reduce_along(const Src& src, const Dst& dst,
                                       Accumulator<typename Src::value> start, Op op) {
  static_assert(Mode >= 0 && Mode < Src::rank, "sum and max along a mode: no such mode");
  static_assert(Dst::rank + 1 == Src::rank || (Src::rank == 1 && Dst::rank == 1),
                "sum<mode>(src, dst), max<mode>(src, dst): dst has the modes of src without "
                "the one that is folded");
  using Sum = Accumulator<typename Src::value>;
  require_folded<Mode>(src, dst);
  const auto folded = [&](const auto&... at) {
    const index_t rest[] = {at..., 0};
    Sum total = start;
    if constexpr (Src::is_clipped) {
      const bool exists = [&]<int... M>(std::integer_sequence<int, M...>) {
        return ((M == Mode || rest[M < Mode ? M : M - 1] < src.template valid<M>()) && ...);
      }
      (std::make_integer_sequence<int, Src::rank>{});
      if (!exists) return total;
    }
    for (index_t i = 0; i < src.template valid<Mode>(); ++i) {
      [&]<int... M>(std::integer_sequence<int, M...>) {
        total =
            op(total, convert<Sum>(value_at(src, (M == Mode ? i : rest[M < Mode ? M : M - 1])...)));
      }
      (std::make_integer_sequence<int, Src::rank>{});
    }
    return total;
  };
  if constexpr (Src::rank == 1) {
    if (!Dst::is_clipped || dst.contains(0)) dst(0) = convert<typename Dst::value>(folded());
  } else {
    for_each_position(
        dst, [&](auto... at) { dst(at...) = convert<typename Dst::value>(folded(at...)); });
  }
}

}  // namespace detail

/// The sum of all elements that exist, row by row.
template <class T>
requires detail::TensorLike<const T> TESSERA_HD constexpr auto sum(const T& t) {
  const auto& view = detail::view_of(t);
  using Sum = Accumulator<typename std::remove_cvref_t<decltype(view)>::value>;
  Sum total{};
  for_each_position(view, [&](auto... at) {
    total = static_cast<Sum>(total + convert<Sum>(detail::value_at(view, at...)));
  });
  return total;
}
/// The largest element that exists.
template <class T>
requires detail::TensorLike<const T> TESSERA_HD constexpr auto max(const T& t) {
  const auto& view = detail::view_of(t);
  using Sum = Accumulator<typename std::remove_cvref_t<decltype(view)>::value>;
  Sum largest = detail::lowest<Sum>();
  for_each_position(view, [&](auto... at) {
    largest = detail::Greater{}(largest, convert<Sum>(detail::value_at(view, at...)));
  });
  return largest;
}

/// Sums along mode Mode: sum<1>(a, s) of a (M,N) gives s (M), the sums of the rows.
template <int Mode, AnyTensor Src, AnyTensor Dst>
TESSERA_HD constexpr void sum(const Src& src, const Dst& dst) {
  detail::reduce_along<Mode>(src, dst, Accumulator<typename Src::value>{}, detail::Plus{});
}
/// Maxima along mode Mode.
template <int Mode, AnyTensor Src, AnyTensor Dst>
TESSERA_HD constexpr void max(const Src& src, const Dst& dst) {
  detail::reduce_along<Mode>(src, dst, detail::lowest<Accumulator<typename Src::value>>(),
                             detail::Greater{});
}

/// The sum of one value from each lane of the warp, in every lane.
template <class Thread, class V>
TESSERA_KERNEL V warp_sum(Thread& t, V value, Here here = Here::current()) {
  const int lanes = t.lanes();
  for (int delta = Thread::warp_size / 2; delta > 0; delta /= 2) {
    const bool has_other = t.lane + delta < lanes;
    const V other = t.shuffle_down(value, has_other ? delta : 0, here);
    if (has_other) value = static_cast<V>(value + other);
  }
  return t.shuffle(value, 0, here);
}

/// The sum of one value from each thread of the block, in every thread. `scratch`: shared memory
/// for one value of each thread. All threads of the block call it; scratch is free again when it
/// returns.
template <class Thread, class V, AnyTensor Scratch>
TESSERA_KERNEL V block_sum(Thread& t, V value, const Scratch& scratch,
                           Here here = Here::current()) {
  const int threads = static_cast<int>(volume(t.block_dim)), me = t.thread;
  scratch(me, here) = value;
  t.barrier(here);  // every value is there
  int step = 1;
  while (step * 2 < threads) step *= 2;
  for (; step > 0; step /= 2) {
    if (me < step && me + step < threads)
      scratch(me, here) = static_cast<V>(static_cast<V>(scratch(me, here)) +
                                         static_cast<V>(scratch(me + step, here)));
    t.barrier(here);  // the first `step` values hold all sums
  }
  const V total = scratch(0, here);
  t.barrier(here);  // every thread has the total: scratch may be overwritten
  return total;
}

}  // namespace tessera
