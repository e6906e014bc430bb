// Matrix products of cuBLAS, as plain kernels: their accesses are checked like those of the
// program, at the line of the call. Sums are in order of k, so the last bits are not cuBLAS's.
// Included by cublas_v2.h.
#pragma once

#include "async.h"
#include "launch.h"

namespace tessera::plain_cuda {

/// op(X) of a column-major matrix X.
template <class T>
struct BlasOperand {
  const T* data;
  cublasOperation_t operation;
  int pitch;
  long long stride;  ///< from one matrix of a batch to the next

  TESSERA_UNSEEN __device__ T at(long long row, long long column, long long batch,
                                 Place place) const {
    const bool is_transposed = operation != CUBLAS_OP_N;
    T out;
    load_operand(
        place, &out,
        data + batch * stride + (is_transposed ? column + row * pitch : row + column * pitch),
        sizeof out);
    return out;
  }
};

/// One thread for each element: C = alpha * op(A) op(B) + beta * C, with m x n elements.
template <class S, class AB, class T>
TESSERA_UNSEEN __global__ void cublas_product(int m, int n, int k, S alpha, BlasOperand<AB> A,
                                              BlasOperand<AB> B, S beta, T* C, int pitch,
                                              long long stride, Place place) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  const long long batch = blockIdx.z;
  S sum = S(0);
  for (int i = 0; i < k; ++i)
    sum = sum + S(A.at(row, i, batch, place)) * S(B.at(i, column, batch, place));
  sum = alpha * sum;
  T* const at = C + batch * stride + row + static_cast<long long>(column) * pitch;
  T out;
  if (beta != S(0)) {
    load_operand(place, &out, at, sizeof out);
    sum = sum + beta * S(out);
  }
  out = T(sum);
  store_result(place, at, &out, sizeof out);
}

template <class S, class AB, class T>
cublasStatus_t blas_product(cublasHandle_t handle, int m, int n, int k, const S* alpha,
                            const BlasOperand<AB>& A, const BlasOperand<AB>& B, const S* beta, T* C,
                            int pitch, long long stride, int batches, Place place) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto rows = [](const BlasOperand<AB>& X, int plain, int transposed) {
    return X.operation == CUBLAS_OP_N ? plain : transposed;
  };
  const auto is_short = [](int length, int least) { return length < (least > 1 ? least : 1); };
  if (m < 0 || n < 0 || k < 0 || batches < 0 || alpha == nullptr || beta == nullptr ||
      is_short(A.pitch, rows(A, m, k)) || is_short(B.pitch, rows(B, k, n)) || is_short(pitch, m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  const dim3 block(16, 16);
  const dim3 grid((m + 15) / 16, (n + 15) / 16, batches);
  configure(place, grid, block, 0, handle->stream);
  cublas_product<S, AB, T>(m, n, k, *alpha, A, B, *beta, C, pitch, stride, place);
  return CUBLAS_STATUS_SUCCESS;
}

/// With the types of elements as values; `use` takes three objects of the types.
template <class F>
cublasStatus_t with_blas_types(cudaDataType_t ab, cudaDataType_t c, cublasComputeType_t sum,
                               F use) {
  const bool is_f64 = sum == CUBLAS_COMPUTE_64F || sum == CUBLAS_COMPUTE_64F_PEDANTIC;
  const bool is_f16 = sum == CUBLAS_COMPUTE_16F || sum == CUBLAS_COMPUTE_16F_PEDANTIC;
  const bool is_i32 = sum == CUBLAS_COMPUTE_32I || sum == CUBLAS_COMPUTE_32I_PEDANTIC;
  if (is_f64 && ab == CUDA_R_64F && c == CUDA_R_64F) return use(double(), double(), double());
  if (is_f16 && ab == CUDA_R_16F && c == CUDA_R_16F) return use(__half(), __half(), __half());
  if (is_i32 && ab == CUDA_R_8I && c == CUDA_R_32I)
    return use(int(), static_cast<signed char>(0), int());
  if (is_f64 || is_f16 || is_i32) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (ab == CUDA_R_32F && c == CUDA_R_32F) return use(float(), float(), float());
  if (ab == CUDA_R_16F && c == CUDA_R_16F) return use(float(), __half(), __half());
  if (ab == CUDA_R_16F && c == CUDA_R_32F) return use(float(), __half(), float());
  if (ab == CUDA_R_16BF && c == CUDA_R_16BF) return use(float(), __nv_bfloat16(), __nv_bfloat16());
  if (ab == CUDA_R_16BF && c == CUDA_R_32F) return use(float(), __nv_bfloat16(), float());
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace tessera::plain_cuda

#define TESSERA_BLAS_PRODUCT(letter, T)                                                           \
  inline cublasStatus_t cublas##letter##gemmStridedBatched(                                       \
      cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, \
      const T* alpha, const T* A, int lda, long long stride_a, const T* B, int ldb,               \
      long long stride_b, const T* beta, T* C, int ldc, long long stride_c, int batches,          \
      TESSERA_PLACE) {                                                                            \
    using Operand = tessera::plain_cuda::BlasOperand<T>;                                          \
    return tessera::plain_cuda::blas_product(                                                     \
        handle, m, n, k, alpha, Operand{A, of_a, lda, stride_a}, Operand{B, of_b, ldb, stride_b}, \
        beta, C, ldc, stride_c, batches, place);                                                  \
  }                                                                                               \
  inline cublasStatus_t cublas##letter##gemm(                                                     \
      cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, \
      const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta, T* C, int ldc,     \
      TESSERA_PLACE) {                                                                            \
    return cublas##letter##gemmStridedBatched(handle, of_a, of_b, m, n, k, alpha, A, lda, 0, B,   \
                                              ldb, 0, beta, C, ldc, 0, 1, place);                 \
  }
TESSERA_BLAS_PRODUCT(S, float)
TESSERA_BLAS_PRODUCT(D, double)
TESSERA_BLAS_PRODUCT(H, __half)
#undef TESSERA_BLAS_PRODUCT

inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
    const void* alpha, const void* A, cudaDataType_t type_a, int lda, long long stride_a,
    const void* B, cudaDataType_t type_b, int ldb, long long stride_b, const void* beta, void* C,
    cudaDataType_t type_c, int ldc, long long stride_c, int batches, cublasComputeType_t sum,
    cublasGemmAlgo_t, TESSERA_PLACE) {
  if (type_a != type_b) return CUBLAS_STATUS_NOT_SUPPORTED;
  return tessera::plain_cuda::with_blas_types(
      type_a, type_c, sum, [&]<class S, class AB, class T>(S, AB, T) {
        using Operand = tessera::plain_cuda::BlasOperand<AB>;
        return tessera::plain_cuda::blas_product(
            handle, m, n, k, static_cast<const S*>(alpha),
            Operand{static_cast<const AB*>(A), of_a, lda, stride_a},
            Operand{static_cast<const AB*>(B), of_b, ldb, stride_b}, static_cast<const S*>(beta),
            static_cast<T*>(C), ldc, stride_c, batches, place);
      });
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a,
                                   cublasOperation_t of_b, int m, int n, int k, const void* alpha,
                                   const void* A, cudaDataType_t type_a, int lda, const void* B,
                                   cudaDataType_t type_b, int ldb, const void* beta, void* C,
                                   cudaDataType_t type_c, int ldc, cublasComputeType_t sum,
                                   cublasGemmAlgo_t algorithm, TESSERA_PLACE) {
  return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, alpha, A, type_a, lda, 0, B,
                                    type_b, ldb, 0, beta, C, type_c, ldc, 0, 1, sum, algorithm,
                                    place);
}
