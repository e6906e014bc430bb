// Random layouts for property tests; every choice is rapidcheck's, so failures shrink.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/layout/algebra.hpp"
#include "tessera/layout/print.hpp"

namespace tessera {

inline void showValue(const Layout& layout, std::ostream& out) { out << to_string(layout); }
inline void PrintTo(const Layout& layout, std::ostream* out) { *out << to_string(layout); }
inline void PrintTo(const IntTuple& tuple, std::ostream* out) { *out << to_string(tuple); }

namespace testing_layouts {

/// A number from lo to hi.
inline index_t pick(index_t lo, index_t hi) { return *rc::gen::inRange<index_t>(lo, hi + 1); }

/// A nested tuple of up to `leaves` numbers from `number()`.
template <class Number>
IntTuple random_tuple(int leaves, int depth, Number&& number) {
  const int modes = static_cast<int>(pick(1, leaves < 3 ? leaves : 3));
  if (modes == 1 || depth == 0) return IntTuple(number());
  TupleBuilder out;
  for (int m = 0; m < modes; ++m) out.push(random_tuple(leaves / modes, depth - 1, number));
  return out.done();
}

inline IntTuple random_shape(int leaves = 6) {
  return random_tuple(leaves, 3, [] { return pick(1, 5); });
}

/// Any strides, backward and standing still too.
inline Layout random_layout(int leaves = 6) {
  const IntTuple shape = random_shape(leaves);
  return Layout(shape, with_leaves(shape, [](int) { return pick(-3, 12); }));
}

/// No two coordinates share an index: compact in a random order, some strides stretched.
inline Layout random_injective(int leaves = 6, index_t stretch = 3) {
  const IntTuple shape = random_shape(leaves);
  std::vector<int> order(static_cast<std::size_t>(shape.leaves()));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
  for (std::size_t k = order.size(); k-- > 1;)
    std::swap(order[k], order[static_cast<std::size_t>(pick(0, static_cast<index_t>(k)))]);
  IntTuple stride = shape;
  index_t step = 1;
  for (const int k : order) {
    step *= pick(1, stretch);
    stride.numbers.set(k, step);
    step *= shape.leaf(k);
  }
  return Layout(shape, stride);
}

/// Extents and strides are powers of two, where composition always divides.
inline Layout random_power_of_two(int leaves = 5) {
  const IntTuple shape = random_tuple(leaves, 3, [] { return index_t{1} << pick(0, 3); });
  return Layout(shape, with_leaves(shape, [](int) { return index_t{1} << pick(0, 6); }));
}

/// The indices in order of the linear coordinate.
inline std::vector<index_t> indices(const Layout& layout) {
  std::vector<index_t> out;
  for (index_t i = 0; i < layout.size(); ++i) out.push_back(layout(i));
  return out;
}

inline std::vector<index_t> sorted_indices(const Layout& layout) {
  std::vector<index_t> out = indices(layout);
  std::sort(out.begin(), out.end());
  return out;
}

/// Runs `body` with random choices; a falsified property prints the smallest layouts that fail.
template <class Body>
void for_all(const std::string& law, Body&& body) {
  EXPECT_TRUE(rc::check(law, [&] { body(); }));
}

}  // namespace testing_layouts
}  // namespace tessera
