// A matrix B that many products share, such as a weight, packed once: PackedMatrix, and matmul()
// and run() with it. Checked like every call here; cpu::PackedMatrix is the unchecked form for a
// static type. The products have the bits that they have with B itself.
#pragma once

#include <cstddef>
#include <variant>

#include "tessera/cpu/packed_matrix.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {

/// B (K,N) as the microkernels of this CPU read it, a copy: B itself may change or go. Moved, not
/// copied; one that was moved from may only be assigned to or destroyed. Any number of threads may
/// multiply by it at once.
class PackedMatrix {
 public:
  using Panels = std::variant<cpu::PackedMatrix<double>, cpu::PackedMatrix<float>,
                              cpu::PackedMatrix<f16>, cpu::PackedMatrix<bf16>,
                              cpu::PackedMatrix<std::int8_t>, cpu::PackedMatrix<std::uint8_t>,
                              cpu::PackedMatrix<cpu::U8I8>, cpu::PackedMatrix<cpu::I8U8>>;

  /// Packs B of f64, f32, f16, bf16, i8 or u8, any strides. Throws Error(type) for another element
  /// type, Error(shape) and Error(argument) for an invalid matrix (see make_problem),
  /// Error(resource) where there is no memory.
  explicit PackedMatrix(const ConstMatrix& B) : PackedMatrix(B, B.dtype) {}
  /// The same for an A of another type: u8 where B is of i8, i8 where it is of u8.
  PackedMatrix(const ConstMatrix& B, DType of_a);

  index_t rows() const;       ///< K
  index_t cols() const;       ///< N
  DType dtype() const;        ///< of the elements that were packed
  DType dtype_of_a() const;   ///< of those that they can be multiplied with
  std::size_t bytes() const;  ///< of memory that it takes: about as many as B has, or twice as many
  const Panels& panels() const { return panels_; }

 private:
  Panels panels_;
};

/// As make_problem() with the matrix itself; with the strides of a compact row-major matrix.
Problem make_problem(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, double alpha = 1,
                     double beta = 0, Epilogue epilogue = {});

/// As run() with the matrix itself, of any strides. The plan's algorithm is packed, as make_plan()
/// chooses for these types: Error(argument) otherwise.
void run(const Plan& plan, const ConstMatrix& A, const PackedMatrix& B, const Matrix& C,
         const void* bias = nullptr);

/// C = alpha * A * B + beta * C. A is (M,K), B is (K,N), C is (M,N). Returns the plan that ran, its
/// algorithm packed; Error(argument) where the options ask for another. Else as matmul() with the
/// matrix itself, and as run() above.
Plan matmul(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, double alpha = 1,
            double beta = 0, const Options& options = {});

}  // namespace tessera
