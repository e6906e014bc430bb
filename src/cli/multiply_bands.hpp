// A product in bands of rows: a .npy result goes to the file band by band and may be larger than
// memory, progress can be shown, and every element is the same chain of multiply-adds whatever the
// bands are.
#pragma once

#include <optional>
#include <string>

#include "multiply_inputs.hpp"
#include "tessera/io/io.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

/// Where the result goes: rows of an array in memory, or a file that takes rows as they come.
class Target {
 public:
  Target(const std::string& path, DType type, index_t rows, index_t cols,
         const WriteOptions& options);

  /// How many of `rows` rows may be computed at once.
  index_t most_rows(index_t rows) const;
  /// Where rows [first, first + count) are to be computed.
  Matrix begin(index_t first, index_t count);
  /// They are complete.
  void end(const Matrix& rows);
  void commit() { streamed_ ? streamed_->commit() : array_->commit(); }

 private:
  DType type_;
  index_t cols_;
  std::optional<StreamedOutput> streamed_;
  std::optional<OutputArray> array_;
  std::optional<Array> buffer_;  // of one band, for a file
};

struct Outcome {
  double seconds = 0;  ///< of the product alone
  double max_error_ratio = 0;
  bool same_bits = true;
};

/// Multiplies into the target; with --verify each band is checked before it goes there. Throws
/// Error(failed) where an element is out of its bound.
Outcome multiply_in_bands(const shell::Context& context, const MultiplyRequest& request,
                          const Plan& plan, const Operands& in, Target& target);

}  // namespace tessera::cli
