// Operands of one byte as bulk copies read them: copies with rows along K, 16 bytes after one
// another, in multiples of 16. Private to src/matmul.
#pragma once

#include <cstddef>
#include <vector>

#include "tessera/core/config.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::detail {

struct ByteRows {
  Problem problem;  ///< with the strides of the copies
  std::vector<std::byte> A, B;

  ByteRows(const Problem& p, const void* a, const void* b) : problem(p) {
    const index_t K = p.alpha == 0 ? 0 : p.K, row = (K + 15) / 16 * 16;
    A = copied(a, p.M, K, p.a.row, p.a.col, row);
    B = copied(b, p.N, K, p.b.col, p.b.row, row);
    problem.a = {row, 1}, problem.b = {1, row};
  }

 private:
  static std::vector<std::byte> copied(const void* from, index_t rows, index_t cols,
                                       index_t row_stride, index_t col_stride, index_t to_row) {
    std::vector<std::byte> out(static_cast<std::size_t>(rows * to_row));
    for (index_t i = 0; i < rows; ++i)
      for (index_t k = 0; k < cols; ++k)
        out[static_cast<std::size_t>(i * to_row + k)] =
            static_cast<const std::byte*>(from)[i * row_stride + k * col_stride];
    return out;
  }
};

}  // namespace tessera::detail
