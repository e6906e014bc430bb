// The loops of top_k() and entries_above(): blocks of C that stay in the cache between the product
// and the selection.
#include "tessera/matmul/select.hpp"

#include <algorithm>
#include <optional>

#include "row_selector.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/packed_matrix.hpp"
#include "tessera/tensor/host_buffer.hpp"

namespace tessera {

namespace {

/// Extents of a block of C.
constexpr index_t kRows = 1024, kCols = 2048;

DType type_of_entries(DType in) {
  if (in == DType::f64) return DType::f64;
  return is_floating(in) ? DType::f32 : DType::i32;
}

bool is_transpose(const ConstMatrix& a, const ConstMatrix& b) {
  return a.data == b.data && a.dtype == b.dtype && a.rows == b.cols && a.cols == b.rows &&
         a.row_stride == b.col_stride && a.col_stride == b.row_stride;
}

ConstMatrix rows_of(const ConstMatrix& m, index_t first, index_t count) {
  const index_t offset = first * m.row_stride * size_of(m.dtype);
  return {static_cast<const std::byte*>(m.data) + offset,
          m.dtype,
          count,
          m.cols,
          m.row_stride,
          m.col_stride};
}
ConstMatrix cols_of(const ConstMatrix& m, index_t first, index_t count) {
  return transposed(rows_of(transposed(m), first, count));
}

SelectedEntries select(const ConstMatrix& A, const ConstMatrix& B,
                       const detail::Selection& selection, int threads) {
  const DType type = type_of_entries(A.dtype);
  const index_t M = A.rows, N = B.cols;
  // What would be wrong with the product is wrong with a corner of it.
  double corner = 0;
  make_problem(rows_of(A, 0, std::min<index_t>(M, 1)), cols_of(B, 0, std::min<index_t>(N, 1)),
               {&corner, type, std::min<index_t>(M, 1), std::min<index_t>(N, 1), 1, 1});
  const auto selector = detail::make_row_selector(selection, type, M, N);
  const bool is_symmetric = is_transpose(A, B);
  // Smaller blocks on the diagonal, of which half is computed in vain.
  const index_t high = std::min(kRows, M), wide = std::min(is_symmetric ? kCols / 2 : kCols, N);
  HostBuffer block(static_cast<std::size_t>(high * wide * size_of(type)));
  Options options;
  options.threads = threads;
  for (index_t j = 0; j < N; j += wide) {
    const index_t n = std::min(wide, N - j);
    const ConstMatrix b = cols_of(B, j, n);
    std::optional<PackedMatrix> packed;  // once for all rows of A
    if (A.dtype != DType::i32 && M > high) packed.emplace(b, A.dtype);
    const index_t rows = is_symmetric ? std::min(j + n, M) : M;
    for (index_t i = 0; i < rows; i += high) {
      const index_t m = std::min(high, rows - i);
      const Matrix C{block.data(), type, m, n, n, 1};
      if (packed) matmul(rows_of(A, i, m), *packed, C, 1, 0, options);
      else matmul(rows_of(A, i, m), b, C, 1, 0, options);
      selector->take(C, i, j, threads);
      // Columns in front of the diagonal block are those of its rows, transposed.
      const index_t above = std::min(m, j - i);
      if (is_symmetric && above > 0) selector->take({C.data, type, n, above, 1, n}, j, i, threads);
    }
  }
  return selector->finish(threads);
}

}  // namespace

SelectedEntries top_k(const ConstMatrix& A, const ConstMatrix& B, index_t k, int threads) {
  return select(A, B, {k, 0}, threads);
}

SelectedEntries entries_above(const ConstMatrix& A, const ConstMatrix& B, double threshold,
                              int threads) {
  return select(A, B, {std::nullopt, threshold}, threads);
}

}  // namespace tessera
