// expect: uninitialized-read at 15, out-of-bounds at 17
// Mistakes in products of cuBLAS are found at the calls.
#include <cublas_v2.h>

int main() {
  constexpr int n = 16;
  float *A, *B, *C;
  cudaMalloc(&A, n * n * sizeof(float));
  cudaMalloc(&B, n * n * sizeof(float));
  cudaMalloc(&C, n * n * sizeof(float));
  cudaMemset(A, 0, n * n * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n);
  cudaMemset(B, 0, n * n * sizeof(float));
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n + 1, B, n, &zero, C, n);
  cublasDestroy(handle);
  cudaFree(A), cudaFree(B), cudaFree(C);
}
