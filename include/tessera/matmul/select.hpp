// Selected entries of a product A * B whose C is too large to keep: the k
// largest of each row, or those above a threshold. C is computed block by block, and only what is
// selected stays.
#pragma once

#include <cstddef>
#include <vector>

#include "tessera/matmul/matrix.hpp"

namespace tessera {

/// Selected entries of each row of a (rows, cols) matrix, in the layout of SciPy's csr_array: those
/// of row i have the numbers starts[i] to starts[i + 1] in `columns` and `values`.
struct SelectedEntries {
  index_t rows = 0, cols = 0;
  DType dtype = DType::f32;     ///< of the values: f64, f32 or i32
  std::vector<index_t> starts;  ///< rows + 1
  std::vector<index_t> columns;
  std::vector<std::byte> values;

  index_t count() const { return static_cast<index_t>(columns.size()); }
};

/// The k largest entries of each row of A * B, the largest first. Of equal entries (-0 equals 0)
/// the one of the lower column comes first; NaN comes last. A is (M,K), B is (K,N), any strides, of
/// one type: f64, f32, f16, bf16, i32, or i8 and u8. Each entry has the bits that matmul() gives it
/// in C of f64 (for f64), i32 (for integers) or f32. Where B is A transposed, the same memory with
/// its strides exchanged, half of the products are enough. Throws Error(shape) unless 0 <= k <= N,
/// and as matmul() does.
SelectedEntries top_k(const ConstMatrix& A, const ConstMatrix& B, index_t k, int threads = 0);

/// The entries of A * B that are greater than `threshold`, by column in each row; NaN is not. Else
/// as top_k().
SelectedEntries entries_above(const ConstMatrix& A, const ConstMatrix& B, double threshold,
                              int threads = 0);

}  // namespace tessera
