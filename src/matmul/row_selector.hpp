// Selects entries of each row of a matrix C that arrives in blocks: see select.hpp. Used by top_k()
// and by products of files, whose blocks of C are never written.
#pragma once

#include <memory>
#include <optional>

#include "tessera/matmul/select.hpp"

namespace tessera::detail {

/// What is selected: the k largest of a row, or all above a threshold.
struct Selection {
  std::optional<index_t> k;
  double threshold = 0;  ///< without k
};

class RowSelector {
 public:
  virtual ~RowSelector() = default;
  /// Takes the block of C whose first element is (row, col). Blocks may come in any order, each
  /// once.
  virtual void take(const ConstMatrix& block, index_t row, index_t col, int threads) = 0;
  /// Takes what another selector has selected of columns that are not taken otherwise; `row` is its
  /// first row.
  virtual void take(const SelectedEntries& entries, index_t row) = 0;
  /// What is selected; the selector is empty then.
  virtual SelectedEntries finish(int threads) = 0;
};

/// For a (rows, cols) matrix of f64, f32 or i32. Throws Error(shape) unless 0 <= k <= cols.
std::unique_ptr<RowSelector> make_row_selector(const Selection& selection, DType type, index_t rows,
                                               index_t cols);

}  // namespace tessera::detail
