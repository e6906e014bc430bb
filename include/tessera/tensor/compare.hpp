// Are two tensors the same? Both have the same extents (as far as they exist), and every pair of
// elements agrees. NaN agrees with nothing: a result that was never written cannot pass. For tests
// and lessons; matmul/verify.hpp has the error bound of a product.
#pragma once

#include <limits>
#include <string>

#include "tessera/core/text.hpp"
#include "tessera/tensor/arithmetic.hpp"

namespace tessera {

/// |a - b| <= absolute + relative * |b|.
struct Tolerance {
  double absolute = 0, relative = 0;
};

namespace detail {

template <AnyTensor A, AnyTensor B>
TESSERA_HD constexpr bool same_extents(const A& a, const B& b) {
  static_assert(A::rank == B::rank, "tensors that are compared have the same rank");
  return [&]<int... M>(std::integer_sequence<int, M...>) {
    return ((a.template valid<M>() == b.template valid<M>()) && ...);
  }
  (std::make_integer_sequence<int, A::rank>{});
}

TESSERA_HD constexpr bool agree(double a, double b, Tolerance tolerance) {
  if (a == b) return true;  // infinities too
  const double distance = a < b ? b - a : a - b;
  const double size = b < 0 ? -b : b;
  return distance <= tolerance.absolute + tolerance.relative * size &&
         size <= std::numeric_limits<double>::max();
}

}  // namespace detail

/// The same extents and equal elements; NaN is not equal to NaN, 0 equals -0.
template <AnyTensor A, AnyTensor B>
TESSERA_HD constexpr bool equal(const A& a, const B& b) {
  if (!detail::same_extents(a, b)) return false;
  bool same = true;
  for_each_position(a, [&](auto... at) {
    same = same && detail::value_at(a, at...) == detail::value_at(b, at...);
  });
  return same;
}

/// The same extents, and every pair of elements within the tolerance.
template <AnyTensor A, AnyTensor B>
TESSERA_HD constexpr bool all_close(const A& a, const B& b, Tolerance tolerance = {1e-8, 1e-5}) {
  if (!detail::same_extents(a, b)) return false;
  bool close = true;
  for_each_position(a, [&](auto... at) {
    close = close && detail::agree(static_cast<double>(detail::value_at(a, at...)),
                                   static_cast<double>(detail::value_at(b, at...)), tolerance);
  });
  return close;
}

/// "" where all_close holds; else which extents or which first element differ.
template <AnyTensor A, AnyTensor B>
std::string first_difference(const A& a, const B& b, Tolerance tolerance = {}) {
  std::string text;
  if (!detail::same_extents(a, b)) {
    const auto shape = [](const auto& t) {
      std::string extents;
      using T = std::remove_cvref_t<decltype(t)>;
      [&]<int... M>(std::integer_sequence<int, M...>) {
        ((extents += cat(M == 0 ? "" : ",", t.template valid<M>())), ...);
      }
      (std::make_integer_sequence<int, T::rank>{});
      return "(" + extents + ")";
    };
    return cat("shape ", shape(a), " is not shape ", shape(b));
  }
  for_each_position(a, [&](auto... at) {
    const auto x = static_cast<double>(detail::value_at(a, at...));
    const auto y = static_cast<double>(detail::value_at(b, at...));
    if (!text.empty() || detail::agree(x, y, tolerance)) return;
    std::string position;
    ((position += cat(position.empty() ? "" : ",", at)), ...);
    text = cat("element (", position, ") is ", x, ", not ", y);
  });
  return text;
}

}  // namespace tessera
