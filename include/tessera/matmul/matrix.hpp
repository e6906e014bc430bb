// A matrix as public calls take it: a pointer, a run-time element type, extents and strides. No
// ownership. Element (i, j) is at data[i * row_stride + j * col_stride], strides in elements, any
// sign. Transposition is a stride.
#pragma once

#include <string>
#include <type_traits>

#include "tessera/core/dtype.hpp"

namespace tessera {

template <class Void>
struct MatrixView {
  Void* data = nullptr;
  DType dtype = DType::f32;
  index_t rows = 0, cols = 0;
  index_t row_stride = 0, col_stride = 1;

  MatrixView() = default;
  MatrixView(Void* data_, DType dtype_, index_t rows_, index_t cols_, index_t row_stride_,
             index_t col_stride_ = 1)
      : data(data_),
        dtype(dtype_),
        rows(rows_),
        cols(cols_),
        row_stride(row_stride_),
        col_stride(col_stride_) {}
  /// A mutable view is also a constant one.
  template <class Other>
  requires(std::is_const_v<Void> && !std::is_const_v<Other>)
      MatrixView(const MatrixView<Other>& other)  // NOLINT(google-explicit-constructor)
      : MatrixView(other.data, other.dtype, other.rows, other.cols, other.row_stride,
                   other.col_stride) {}
};

using ConstMatrix = MatrixView<const void>;
using Matrix = MatrixView<void>;

/// A row-major (rows, cols) matrix of T at `data`; `leading_dimension` is the row stride in
/// elements, of any sign.
template <class T>
auto matrix(T* data, index_t rows, index_t cols, index_t leading_dimension) {
  using Void = std::conditional_t<std::is_const_v<T>, const void, void>;
  return MatrixView<Void>(data, dtype_of<T>(), rows, cols, leading_dimension, 1);
}
/// The same without gaps between the rows.
template <class T>
auto matrix(T* data, index_t rows, index_t cols) {
  return matrix(data, rows, cols, cols);
}

/// The (cols, rows) view of the same elements.
template <class Void>
MatrixView<Void> transposed(const MatrixView<Void>& m) {
  return {m.data, m.dtype, m.cols, m.rows, m.col_stride, m.row_stride};
}

/// "f32 (64,32):(32,1)"
template <class Void>
std::string to_string(const MatrixView<Void>& m) {
  return cat(name(m.dtype), " (", m.rows, ",", m.cols, "):(", m.row_stride, ",", m.col_stride, ")");
}

}  // namespace tessera
