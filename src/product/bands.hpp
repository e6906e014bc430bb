// A product in bands of rows. A .npy result goes to the file band by band and may be larger than
// memory; progress can be shown. The bands do not change any bit: every element is the same chain
// of multiply-adds.
#pragma once

#include <optional>
#include <string>

#include "inputs.hpp"
#include "tessera/io/io.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::product {

/// The target of the result: rows of an array in memory, or a file that accepts rows in order.
class Target {
 public:
  Target(const std::string& path, DType type, index_t rows, index_t cols,
         const WriteOptions& options);

  /// How many of `rows` rows may be computed at once.
  index_t most_rows(index_t rows) const;
  /// Where to compute rows [first, first + count).
  Matrix begin(index_t first, index_t count);
  /// The rows are complete.
  void end(const Matrix& rows);
  void commit() { streamed_ ? streamed_->commit() : array_->commit(); }

 private:
  DType type_;
  index_t cols_;
  std::optional<StreamedOutput> streamed_;
  std::optional<OutputArray> array_;
  std::optional<Array> buffer_;  // of one band, if the target is a file
};

struct Outcome {
  double seconds = 0;  ///< of the product alone
  double max_error_ratio = 0;
  bool same_bits = true;
};

/// Multiplies into the target; with --verify checks each band before it is written. Throws
/// Error(failed) if an element exceeds its error bound.
Outcome multiply_in_bands(const shell::Context& context, const MultiplyRequest& request,
                          const Plan& plan, const Operands& in, Target& target);

}  // namespace tessera::product
