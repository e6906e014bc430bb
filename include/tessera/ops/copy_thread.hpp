// copy(src, dst, options...): one thread copies all elements, any rank, between any two memories:
// global, shared, registers. Elements are converted where the types differ, vectors move whole.
// What lies past the edge of the source reads as zero (or what filled_with says); what lies past
// the edge of the destination is skipped.
#pragma once

#include "tessera/ops/copy_options.hpp"

namespace tessera {

template <class From, class To, class... Options>
requires(detail::TensorLike<const From>&& detail::TensorLike<To>) TESSERA_HD
    constexpr void copy(const From& from, To&& to, const Options&... options) {
  const auto& src = detail::view_of(from);
  const auto& dst = detail::view_of(to);
  using Src = std::remove_cvref_t<decltype(src)>;
  using Dst = std::remove_cvref_t<decltype(dst)>;
  static_assert(detail::may_copy<Src, Dst>(),
                "copy(src, dst): source and destination have the same rank and the same extents");
  static_assert(!std::is_const_v<typename Dst::element>,
                "copy(src, dst): the destination's elements are constant");
  const detail::Answers<Options...> answers(options...);
  if (src.is_full() && dst.is_full()) {
    detail::require_same_extents(src, dst);
    for_each_position(dst,
                      [&](auto... at) { detail::copy_element<true>(src, dst, answers, at...); });
  } else {
    for_each_position(dst,
                      [&](auto... at) { detail::copy_element<false>(src, dst, answers, at...); });
  }
}

}  // namespace tessera
