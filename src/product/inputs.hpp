// The options of `tessera multiply`, and its inputs as the matrices of a product.
#pragma once

#include <optional>
#include <string>

#include "shell/context.hpp"
#include "tessera/io/array.hpp"

namespace tessera::product {

struct MultiplyRequest {
  std::string a, b, c, output;
  bool transpose_a = false, transpose_b = false, force = false, verify = false, dry_run = false,
       resume = false;
  double alpha = 1;
  std::optional<double> beta;  // without it, C0 is not used
  std::string dtype, algorithm = "auto", arithmetic = "chain", tile, device = "cpu", format;
  int threads = 0;
  index_t memory = 0;  // 0: no memory limit
  std::optional<double> top, above;
  bool gram = false;

  bool selects() const { return top || above; }
};

/// Is one file multiplied by its transpose, and nothing added?
inline bool is_gram(const MultiplyRequest& request) {
  return request.a == request.b && request.a != "-" && request.transpose_a != request.transpose_b &&
         request.beta.value_or(0) == 0;
}

struct Operands {
  Array a, b, c0;  // of the product's type, a and b perhaps bytes; c0 is empty if beta is 0
  DType type = DType::f32;
  index_t M() const { return a.rows(); }
  index_t N() const { return b.cols(); }
  index_t K() const { return a.cols(); }
};

/// Reads the files and converts them to the product's type. Throws Error for invalid files, shapes
/// that do not fit and types that would lose more than rounding.
Operands read_operands(const shell::Context& context, const MultiplyRequest& request);

/// Throws Error(shape) unless A has as many columns as B has rows.
void require_inner_extents(const MultiplyRequest& request, index_t a_rows, index_t a_cols,
                           index_t b_rows, index_t b_cols);

/// The type of the product without --dtype: two f8 are multiplied by warpgroups into f32.
DType natural_type(const MultiplyRequest& request, DType a, DType b);
/// Are these bytes multiplied without a conversion?
bool multiplied_as_bytes(const MultiplyRequest& request, DType a, DType b, DType product);

}  // namespace tessera::product
