// copy(src, dst, options...): one thread copies all elements, any rank, between any two memories:
// global, shared, registers. Elements are converted where the types differ, vectors move whole.
// Elements past the edge of the source read as zero (or the value of filled_with); elements past
// the edge of the destination are skipped.
#pragma once

#include "tessera/ops/copy_options.hpp"

namespace tessera {

namespace detail {

template <class Src, class Dst, class... Options>
TESSERA_HD constexpr void copy_all(const Src& src, const Dst& dst, Here here,
                                   const Options&... options) {
  static_assert(may_copy<Src, Dst>(),
                "copy(src, dst): source and destination have the same rank and the same extents");
  static_assert(!std::is_const_v<typename Dst::element>,
                "copy(src, dst): the destination's elements are constant");
  const Answers<Options...> answers(options...);
  if (src.is_full() && dst.is_full()) {
    require_same_extents(src, dst);
    for_each_position(dst, [&](auto... at) { copy_element<true>(src, dst, answers, here, at...); });
  } else {
    for_each_position(dst,
                      [&](auto... at) { copy_element<false>(src, dst, answers, here, at...); });
  }
}

}  // namespace detail

template <class From, class To>
requires(detail::TensorLike<const From>&& detail::TensorLike<To>) TESSERA_HD
    constexpr void copy(const From& from, To&& to, Here here = Here::current()) {
  detail::copy_all(detail::view_of(from), detail::view_of(to), here);
}
/// With options, reports name this line.
template <class From, class To, class First, class... Options>
requires(detail::TensorLike<const From>&& detail::TensorLike<To> &&
         !std::is_same_v<First, Here>) TESSERA_HD
    constexpr void copy(const From& from, To&& to, const First& first, const Options&... options) {
  detail::copy_all(detail::view_of(from), detail::view_of(to), Here::current(), first, options...);
}

}  // namespace tessera
