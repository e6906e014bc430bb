// Products on a GPU: the same problems, plans and algorithms as on the CPU, with matrices in device
// memory. f32 and f64 results of the algorithms with same_bits are those of the CPU to the last
// bit.
#pragma once

#include "tessera/cuda/runtime.hpp"
#include "tessera/matmul/batch.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cuda {

/// Starts a plan that was made for a CUDA device, in the order of the stream, and returns at once;
/// it allocates nothing but plan.workspace_bytes, in the order of the stream. A, B, C and bias are
/// in memory that the stream's device reaches (device, managed or pinned) and have the shapes,
/// types and strides of `plan.problem`. Throws Error(argument) for host memory, for addresses that
/// are no multiple of their element's size and for plans of another kind of device; see also run()
/// of matmul.hpp.
void run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
         const Stream& stream, const void* bias = nullptr);

/// Starts C = alpha * A * B + beta * C on the stream's device. A is (M,K), B is (K,N), C is (M,N),
/// in device memory. `options.device` is ignored. Returns the plan that was started.
Plan matmul(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, const Stream& stream,
            double alpha = 1, double beta = 0, const Options& options = {});

/// Starts the products of matmul_batch() of matmul/batch.hpp, with their matrices in device memory.
/// Those that a warpgroup's units multiply and bulk copies can read run together, 32 in a launch;
/// others in a launch each. Returns the plan of the first, whose reason says how all of them run.
/// Algorithms and options are those of matmul() here. Each product has the bits that it has alone
/// with parts = 1.
Plan matmul_batch(std::span<const Product> products, const Stream& stream, double alpha = 1,
                  double beta = 0, const Options& options = {});
/// The same for those of matmul_strided().
Plan matmul_strided(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, index_t count,
                    const BatchSteps& steps, const Stream& stream, double alpha = 1,
                    double beta = 0, const Options& options = {}, const Epilogue& epilogue = {},
                    const void* bias = nullptr);

/// A matrix that owns its device memory.
class DeviceMatrix {
 public:
  DeviceMatrix() = default;
  /// (rows, cols), row-major without gaps, not initialised.
  DeviceMatrix(DType dtype, index_t rows, index_t cols, int device);
  /// A copy of `from` with its strides, including the gaps between its elements. Waits until it is
  /// complete.
  DeviceMatrix(const ConstMatrix& from, const Stream& stream);

  Matrix view() const { return view_; }

 private:
  DeviceBuffer buffer_;
  Matrix view_;
};

/// How a matrix is packed: in rows along K at multiples of 128 bytes, which bulk copies can read
/// for every type; or for `three_bf16`.
enum class PackedAs { rows, three_bf16 };

/// A matrix B (K,N) that many products share, such as a weight, packed once in device memory: a
/// copy, B itself may change or go after the stream has done it.
class PackedMatrix {
 public:
  /// Starts to pack B, of any strides, in the order of the stream; it allocates. Throws Error(type)
  /// for three_bf16 of other than f32, else as run() does of B.
  PackedMatrix(const ConstMatrix& B, const Stream& stream, PackedAs as = PackedAs::rows);

  PackedAs packed_as() const { return as_; }
  std::size_t bytes() const { return buffer_.bytes(); }
  /// (K,N), for make_problem(). Its elements are those of B where it is packed in rows.
  const ConstMatrix& matrix() const { return view_; }

 private:
  PackedAs as_;
  DeviceBuffer buffer_;
  ConstMatrix view_;
};

/// run() with such a matrix. Throws Error(argument) where the plan's algorithm is three_bf16 and B
/// is packed in rows, or the other way round.
void run(const Plan& plan, const ConstMatrix& A, const PackedMatrix& B, const Matrix& C,
         const Stream& stream, const void* bias = nullptr);
/// matmul() with such a matrix; a B as three_bf16 is multiplied by `three_bf16`.
Plan matmul(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, const Stream& stream,
            double alpha = 1, double beta = 0, const Options& options = {});

/// Copies a matrix to one in host memory of the same type, extents and strides, including the gaps.
/// Waits until it is complete. Throws Error(shape) where they differ.
void download(const ConstMatrix& from, const Matrix& to, const Stream& stream);

}  // namespace tessera::cuda
