// Shared by the tests of kernels and matmul: the list of nasty shapes, input data, and guarded
// matrices.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::testing {

struct Shape {
  index_t M, N, K;
  index_t padding = 3;  ///< elements between two rows, or columns
};

/// 0, 1, tile-1, tile, tile+1, primes and long sides around a tile extent.
inline std::vector<Shape> nasty_shapes(index_t tile) {
  const index_t t = tile;
  return {{0, 5, 3},         {5, 0, 3},         {5, 3, 0},         {0, 0, 0},
          {1, 1, 1},         {1, t, t},         {t, 1, t},         {t, t, 1},
          {t, t, t},         {t - 1, t, t},     {t, t - 1, t + 1}, {t + 1, t + 1, t + 1},
          {t + 1, t - 1, 2}, {2 * t, t, 3 * t}, {17, 31, 9},       {7, 229, 3},
          {229, 5, 11},      {3, 2, 521}};
}

/// A matrix with guard elements before, between and after its rows, in any order of strides.
template <class T>
class Guarded {
 public:
  enum class Order { row_major, col_major, reversed_rows, reversed, spread };

  Guarded(index_t rows, index_t cols, Order order = Order::row_major, index_t padding = 3)
      : Guarded(rows, cols, strides_of(rows, cols, order, padding)) {}
  /// Strides of any sign.
  Guarded(index_t rows, index_t cols, Strides strides)
      : rows_(rows), cols_(cols), row_stride_(strides.row), col_stride_(strides.col) {
    const index_t down = std::max<index_t>(0, rows - 1) * row_stride_,
                  across = std::max<index_t>(0, cols - 1) * col_stride_;
    // Elements: more than the longest vector; aligned to vectors only where rows or columns are.
    const index_t margin = row_stride_ % 8 == 0 || col_stride_ % 8 == 0 ? 72 : 70;
    const index_t lowest = std::min<index_t>(0, down) + std::min<index_t>(0, across);
    first_ = margin - lowest;
    elements_.assign(static_cast<std::size_t>(std::abs(down) + std::abs(across) + 1 + 2 * margin),
                     guard());
  }
  static Strides strides_of(index_t rows, index_t cols, Order order, index_t padding) {
    switch (order) {
      case Order::col_major: return {1, rows + padding};
      case Order::reversed_rows: return {-(cols + padding), 1};
      case Order::reversed: return {-(cols + padding), -1};
      case Order::spread: return {2, 2 * rows + padding};
      default: return {cols + padding, 1};
    }
  }

  static T guard() {
    return convert<T>(std::is_integral_v<T> ? 77.0 : std::numeric_limits<double>::quiet_NaN());
  }
  T& operator()(index_t i, index_t j) {
    return elements_[static_cast<std::size_t>(first_ + i * row_stride_ + j * col_stride_)];
  }
  const T& operator()(index_t i, index_t j) const { return const_cast<Guarded&>(*this)(i, j); }
  index_t rows() const { return rows_; }
  index_t cols() const { return cols_; }
  Matrix view() {
    return {elements_.data() + first_, dtype_of<T>(), rows_, cols_, row_stride_, col_stride_};
  }

  template <class Fill>
  void fill(Fill value) {
    for (index_t i = 0; i < rows_; ++i) {
      for (index_t j = 0; j < cols_; ++j) (*this)(i, j) = convert<T>(value(i, j));
    }
  }
  /// Is everything outside the matrix as it was made?
  bool guards_intact() const {
    std::vector<bool> inside(elements_.size(), false);
    for (index_t i = 0; i < rows_; ++i) {
      for (index_t j = 0; j < cols_; ++j)
        inside[static_cast<std::size_t>(first_ + i * row_stride_ + j * col_stride_)] = true;
    }
    const T expected = guard();
    for (std::size_t at = 0; at < elements_.size(); ++at) {
      if (!inside[at] && std::memcmp(&elements_[at], &expected, sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  index_t rows_, cols_, row_stride_, col_stride_, first_ = 0;
  std::vector<T> elements_;
};

/// A matrix whose rows, or columns, begin at multiples of 16 bytes, as bulk copies need them.
template <class T>
Guarded<T> aligned(index_t rows, index_t cols, bool by_columns) {
  using Order = typename Guarded<T>::Order;
  const index_t extent = by_columns ? rows : cols;
  return {rows, cols, by_columns ? Order::col_major : Order::row_major,
          (16 - extent % 16) % 16 + 16};
}

/// Numbers between -1 and 1 (whole numbers from -9 to 9 for integers), the same on every machine.
struct RandomData {
  std::mt19937_64 engine;
  bool whole = false;
  explicit RandomData(std::uint64_t seed, bool whole_ = false) : engine(seed), whole(whole_) {}
  double operator()(index_t, index_t) {
    const std::uint64_t bits = engine();
    if (whole) return static_cast<double>(bits % 19) - 9;
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  }
};

}  // namespace tessera::testing
