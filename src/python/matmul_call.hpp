// The products of a call in Python: two arrays of matrices, broadcast against each other as
// numpy.matmul does, with alpha, beta, bias and activation. Everything is checked before an element
// is read; then as many axes as possible are merged into one matrix or one batch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operand.hpp"
#include "tessera/matmul/packed_matrix.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::python {

/// The options of a call.
struct Request {
  double alpha = 1, beta = 0;
  Activation activation = Activation::none;
  Options options;
  std::uintptr_t stream = 0;  ///< of CUDA; 0: the legacy default stream
};

/// The right side: an array, or a matrix that was packed.
struct Right {
  const Operand* array = nullptr;
  const PackedMatrix* packed = nullptr;

  DType dtype() const { return packed != nullptr ? packed->dtype() : array->dtype; }
  std::vector<index_t> shape() const;
};

/// Extents of a * b. ValueError with both shapes where they do not fit, TypeError where the element
/// types differ, BufferError where the devices do.
std::vector<index_t> product_shape(const Operand& a, const Right& b);

/// The addends: a vector, and an array of the result's shape and type, which is copied to `out`
/// first. Null: none, or the elements of `out`.
struct Added {
  const Operand* bias = nullptr;
  const Operand* c = nullptr;
  std::function<void()> copy = {};  ///< writes c to out, where they are on a GPU
};

/// out = activation(alpha * a * b + beta * c + bias) for all of them.
void multiply(const Operand& a, const Right& b, const Operand& out, const Added& added,
              const Request& request);

/// The plan that multiply() would run for each product, and the number of products, after batches
/// are merged into rows.
struct CallPlan {
  Plan plan;
  index_t products = 1;
};

/// Checks what multiply() checks, and writes nothing. Without `out`, for a result of `dtype` in
/// rows without gaps.
CallPlan plan(const Operand& a, const Right& b, DType dtype, const Operand* out, const Added& added,
              const Request& request);

}  // namespace tessera::python
