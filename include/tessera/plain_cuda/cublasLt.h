// cuBLASLt: matrix products with the common epilogues, as kernels under the checker (cublas_v2.h).
// There is one algorithm. Attributes and epilogues that are not here are not supported, as a call
// says by its status.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include <cstdint>
#include <cstring>

#include "cublas_v2.h"

enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

struct cublasLtContext {};
using cublasLtHandle_t = cublasLtContext*;
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t sum;
  cudaDataType_t scale;
  cublasOperation_t of_a = CUBLAS_OP_N, of_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t pitch;
  std::int32_t batches = 1;
  std::int64_t stride = 0;
};
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;
struct cublasLtMatmulPreferenceOpaque_t {
  std::uint64_t workspace = 0;
};
using cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t*;
struct cublasLtMatmulAlgo_t {};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize = 0;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;
  float wavesCount = 1;
};

namespace tessera::plain_cuda {

template <class T, class... Values>
cublasStatus_t blas_create(T** out, Values... values) {
  if (out == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *out = new T{values...};
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t blas_destroy(T* object) {
  if (object == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete object;
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t blas_set(T& member, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// One thread for each element of D.
template <class T>
TESSERA_UNSEEN __global__ void cublas_epilogue(int m, int n, int how, const T* bias, T* D,
                                               long long pitch, long long stride, Place place) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  T* const at = D + blockIdx.z * stride + row + column * pitch;
  T out;
  load_operand(place, &out, at, sizeof out);
  float x = float(out);
  if ((how & CUBLASLT_EPILOGUE_BIAS) != 0) {
    load_operand(place, &out, bias + row, sizeof out);
    x += float(out);
  }
  if ((how & CUBLASLT_EPILOGUE_RELU) != 0) x = x > 0 ? x : 0;
  if ((how & CUBLASLT_EPILOGUE_GELU) != 0)
    x = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  out = T(x);
  store_result(place, at, &out, sizeof out);
}

}  // namespace tessera::plain_cuda

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return tessera::plain_cuda::blas_create(handle);
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return tessera::plain_cuda::blas_destroy(handle);
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out, cublasComputeType_t sum,
                                               cudaDataType_t scale) {
  return tessera::plain_cuda::blas_create(out, sum, scale);
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  return tessera::plain_cuda::blas_destroy(product);
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                                     cublasLtMatmulDescAttributes_t which,
                                                     const void* value, std::size_t bytes) {
  using tessera::plain_cuda::blas_set;
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return blas_set(product->of_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return blas_set(product->of_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return blas_set(product->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return blas_set(product->bias, value, bytes);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out, cudaDataType_t type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t pitch) {
  return tessera::plain_cuda::blas_create(out, type, rows, columns, pitch);
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return tessera::plain_cuda::blas_destroy(layout);
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t which,
                                                       const void* value, std::size_t bytes) {
  using tessera::plain_cuda::blas_set;
  switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return blas_set(layout->batches, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return blas_set(layout->stride, value, bytes);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  return tessera::plain_cuda::blas_create(out);
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return tessera::plain_cuda::blas_destroy(preference);
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t which,
    const void* value, std::size_t bytes) {
  if (which != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_NOT_SUPPORTED;
  return tessera::plain_cuda::blas_set(preference->workspace, value, bytes);
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t* results,
                                                     int* found) {
  if (wanted < 1 || results == nullptr || found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                     const void* alpha, const void* A, cublasLtMatrixLayout_t of_a,
                                     const void* B, cublasLtMatrixLayout_t of_b, const void* beta,
                                     const void* C, cublasLtMatrixLayout_t, void* D,
                                     cublasLtMatrixLayout_t of_d, const cublasLtMatmulAlgo_t*,
                                     void*, std::size_t, cudaStream_t stream, TESSERA_PLACE) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (C != D || of_a->type != of_b->type) return CUBLAS_STATUS_NOT_SUPPORTED;
  cublasContext context{.stream = stream};
  const auto m = static_cast<int>(of_d->rows), n = static_cast<int>(of_d->columns);
  const auto k = static_cast<int>(product->of_a == CUBLAS_OP_N ? of_a->columns : of_a->rows);
  const cublasStatus_t status = cublasGemmStridedBatchedEx(
      &context, product->of_a, product->of_b, m, n, k, alpha, A, of_a->type,
      static_cast<int>(of_a->pitch), of_a->stride, B, of_b->type, static_cast<int>(of_b->pitch),
      of_b->stride, beta, D, of_d->type, static_cast<int>(of_d->pitch), of_d->stride, of_d->batches,
      product->sum, CUBLAS_GEMM_DEFAULT, place);
  if (status != CUBLAS_STATUS_SUCCESS || product->epilogue == CUBLASLT_EPILOGUE_DEFAULT)
    return status;
  return tessera::plain_cuda::with_blas_types(
      of_a->type, of_d->type, product->sum, [&]<class S, class AB, class T>(S, AB, T) {
        const dim3 block(16, 16), grid((m + 15) / 16, (n + 15) / 16, of_d->batches);
        tessera::plain_cuda::configure(place, grid, block, 0, stream);
        tessera::plain_cuda::cublas_epilogue<T>(
            m, n, product->epilogue, static_cast<const T*>(product->bias), static_cast<T*>(D),
            of_d->pitch, of_d->stride, place);
        return CUBLAS_STATUS_SUCCESS;
      });
}
#include "parts/letters_end.h"
