// A buffer whose elements hold their index, with guards at both ends: what a view reads can
// be compared with index arithmetic, and a write outside is found.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tessera/tensor/tensor.hpp"

namespace tessera::test {

template <class T = float>
class Guarded {
 public:
  static constexpr std::size_t kGuard = 64;

  explicit Guarded(index_t size)
      : elements_(static_cast<std::size_t>(size) + 2 * kGuard, T(-77)),
        size_(static_cast<std::size_t>(size)) {
    for (std::size_t i = 0; i < size_; ++i) elements_[kGuard + i] = T(static_cast<float>(i));
  }
  T* data() { return elements_.data() + kGuard; }
  T operator[](index_t i) const { return elements_[kGuard + static_cast<std::size_t>(i)]; }
  /// Has nothing outside been written?
  bool guards_hold() const {
    const auto guard = [](T x) { return x == T(-77); };
    return std::all_of(elements_.begin(), elements_.begin() + kGuard, guard) &&
           std::all_of(elements_.end() - kGuard, elements_.end(), guard);
  }

 private:
  std::vector<T> elements_;
  std::size_t size_;
};

/// Calls f(m, n, row_stride, col_stride, size) for matrices that differ in every way: empty,
/// single, prime, padded, transposed.
template <class F>
void for_each_matrix(F&& f) {
  for (const index_t m : {0, 1, 3, 4, 7, 8, 11, 16}) {
    for (const index_t n : {0, 1, 4, 5, 8, 9, 12}) {
      f(m, n, n, 1, m * n + 1);                    // row-major
      f(m, n, n + 3, 1, m * (n + 3) + 1);          // padded rows
      f(m, n, 1, m + 2, n * (m + 2) + 1);          // column-major
      f(m, n, 2 * n + 1, 2, m * (2 * n + 1) + 1);  // every other element
    }
  }
}

}  // namespace tessera::test
