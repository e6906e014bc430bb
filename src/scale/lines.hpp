// Parts of matrices in memory as what a message carries.
#pragma once

#include <cstring>

#include "shares.hpp"
#include "tessera/io/array.hpp"
#include "transport.hpp"

namespace tessera::scale {

/// The bytes of a part of a matrix in memory, row by row where rows are contiguous (c), or column
/// by column; `whole` is what the matrix has of the product.
inline Lines lines_of(const Array& matrix, Order order, const Part& whole, const Part& part) {
  const index_t size = size_of(matrix.dtype());
  const index_t first =
      (part.i0 - whole.i0) * matrix.row_stride() + (part.j0 - whole.j0) * matrix.col_stride();
  // What is sent is not written, so a matrix that may only be read is fine.
  auto* const data = static_cast<std::byte*>(const_cast<void*>(matrix.data())) + first * size;
  if (order == Order::c) return {data, part.rows(), part.cols() * size, matrix.row_stride() * size};
  return {data, part.cols(), part.rows() * size, matrix.col_stride() * size};
}

/// Both with the same lines.
inline void copy_lines(const Lines& from, const Lines& to) {
  for (index_t n = 0; n < from.lines; ++n)
    std::memcpy(to.first + n * to.stride, from.first + n * from.stride,
                static_cast<std::size_t>(from.bytes));
}

}  // namespace tessera::scale
