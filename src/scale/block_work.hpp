// The arithmetic of one block of C, for one memory and for one rank of many: multiplies a slice
// along K into sums, and turns finished sums into elements of C.
#pragma once

#include <functional>

#include "io/matrix_file.hpp"
#include "plan.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::scale {

/// An operand, and the check of each piece of it before its conversion.
struct Source {
  const MatrixFile* file = nullptr;
  std::function<void(const Array&)> examine = {};
};

/// Reads a block of a file into an array of its shape, after the check.
void read_block(const Source& source, const MatrixBlock& block, const Array& to);

/// Accepts a finished part of C: its elements, and the row and column of the first.
using Write = std::function<void(const Array&, index_t, index_t)>;

/// Whether sums begin at zero, or continue those that are there.
enum class Begin { at_zero, with_sums };

/// sums (+)= A * B for one slice. `plan` is that of the whole product. A and B: matrices of any
/// strides; the rows of `sums` are contiguous.
void multiply_slice(const Plan& plan, const Array& A, const Array& B, const Array& sums,
                    Begin begin);

/// The epilogue of finished sums, whose first element is at (row, col) of C, with C0 where beta is
/// not 0.
void finish_block(const Plan& plan, const Types& types, const Source& c0, const Array& sums,
                  index_t row, index_t col, const Write& write);

/// C = alpha * sums + beta * C, of any strides.
void finish_in_place(const Plan& plan, const Array& sums, const Matrix& C);

}  // namespace tessera::scale
