// Elements made from their position. arange(t): 0, 1, 2, ... row by row. fill_random(t, seed): the
// same numbers for the same seed on every machine, however the work is divided among threads.
//
// Element number n of the nominal shape, counted row by row, is random_unit(seed, n) of
// core/random.hpp.
#pragma once

#include "tessera/core/random.hpp"
#include "tessera/tensor/for_each.hpp"

namespace tessera {

namespace detail {

/// The number of a position in the nominal shape of t, last mode fastest.
template <AnyTensor T, class... I>
TESSERA_HD constexpr index_t number_of(const T& t, I... at) {
  return [&]<int... M>(std::integer_sequence<int, M...>) {
    index_t number = 0;
    ((number = number * t.template extent<M>() + at), ...);
    return number;
  }
  (std::make_integer_sequence<int, T::rank>{});
}

}  // namespace detail

/// t(position) = start + step * number of the position, row by row over the nominal shape.
template <AnyTensor T>
TESSERA_HD constexpr void arange(const T& t, double start = 0, double step = 1) {
  for_each_position(t, [&](auto... at) {
    t(at...) = detail::element_from<typename T::value>(
        start + step * static_cast<double>(detail::number_of(t, at...)));
  });
}

/// Uniform numbers in [low, high); whole numbers from low to high - 1 where the elements are
/// integers.
template <AnyTensor T>
TESSERA_HD constexpr void fill_random(const T& t, std::uint64_t seed, double low = -1,
                                      double high = 1) {
  for_each_position(t, [&](auto... at) {
    const auto n = static_cast<std::uint64_t>(detail::number_of(t, at...));
    double x = low + (high - low) * random_unit(seed, n);
    if constexpr (std::is_integral_v<typename T::value>) {
      const auto whole = static_cast<index_t>(x);  // truncates
      x = static_cast<double>(static_cast<double>(whole) > x ? whole - 1 : whole);
    }
    t(at...) = detail::element_from<typename T::value>(x);
  });
}

}  // namespace tessera
