// Products on a GPU: the same problems, plans and algorithms as on the CPU, with matrices in device
// memory. f32 and f64 results of the algorithms with same_bits are those of the CPU to the last
// bit.
#pragma once

#include "tessera/cuda/runtime.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cuda {

/// Starts a plan that was made for a CUDA device, in the order of the stream, and returns at once;
/// it allocates nothing. A, B, C and bias are in memory that the stream's device reaches
/// (device, managed or pinned) and have the shapes, types and strides of `plan.problem`. Throws
/// Error(argument) for host memory, for addresses that are no multiple of their element's size and
/// for plans of another kind of device; see also run() of matmul.hpp.
void run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
         const Stream& stream, const void* bias = nullptr);

/// Starts C = alpha * A * B + beta * C on the stream's device. A is (M,K), B is (K,N), C is (M,N),
/// in device memory. `options.device` is ignored. Returns the plan that was started.
Plan matmul(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, const Stream& stream,
            double alpha = 1, double beta = 0, const Options& options = {});

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

/// Copies a matrix to one in host memory of the same type, extents and strides, including the gaps.
/// Waits until it is complete. Throws Error(shape) where they differ.
void download(const ConstMatrix& from, const Matrix& to, const Stream& stream);

}  // namespace tessera::cuda
