// Products of cuBLAS and cuBLASLt: transposed, in batches, of halves, with an epilogue.
#include <cublasLt.h>

#include <cstdio>
#include <vector>

constexpr int kM = 20, kN = 9, kK = 13, kBatches = 2;

template <class T>
T* on_device(int count, int most) {
  std::vector<T> host(count);
  for (int i = 0; i < count; ++i) host[i] = T(static_cast<float>(i % most - 2));
  T* out;
  cudaMalloc(&out, count * sizeof(T));
  cudaMemcpy(out, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return out;
}

/// C = 2 * A^T * B of column-major matrices, then max(C + bias, 0) if there is one.
template <class T>
bool is_right(const T* C, int batch, bool has_bias) {
  std::vector<T> host(kM * kN);
  cudaMemcpy(host.data(), C, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
  for (int column = 0; column < kN; ++column) {
    for (int row = 0; row < kM; ++row) {
      float sum = 0;
      for (int i = 0; i < kK; ++i) {
        const int a = batch * kM * kK + row * kK + i, b = batch * kK * kN + column * kK + i;
        sum += static_cast<float>((a % 7 - 2) * (b % 5 - 2));
      }
      sum *= 2;
      if (has_bias) sum = fmaxf(sum + static_cast<float>(row % 3 - 2), 0);
      if (static_cast<float>(host[row + column * kM]) != sum) return false;
    }
  }
  return true;
}

int main() {
  auto* A = on_device<float>(kBatches * kM * kK, 7);
  auto* B = on_device<float>(kBatches * kK * kN, 5);
  auto* C = on_device<float>(kBatches * kM * kN, 3);
  auto* half_a = on_device<__half>(kM * kK, 7);
  auto* half_b = on_device<__half>(kK * kN, 5);
  auto* half_c = on_device<__half>(kM * kN, 3);
  auto* bias = on_device<float>(kM, 3);
  bool good = true;

  cublasHandle_t handle;
  cublasCreate(&handle);
  const float two = 2, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &two, A, kK, B, kK, &zero, C, kM);
  good = good && is_right(C, 0, false);
  cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &two, A, kK, kM * kK, B,
                            kK, kK * kN, &zero, C, kM, kM * kN, kBatches);
  good = good && is_right(C, 0, false) && is_right(C + kM * kN, 1, false);
  cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &two, half_a, CUDA_R_16F, kK, half_b,
               CUDA_R_16F, kK, &zero, half_c, CUDA_R_16F, kM, CUBLAS_COMPUTE_32F,
               CUBLAS_GEMM_DEFAULT);
  good = good && is_right(half_c, 0, false);
  good = good && cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &two, A, kK - 1, B, kK,
                             &zero, C, kM) == CUBLAS_STATUS_INVALID_VALUE;
  cublasDestroy(handle);

  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t of_a, of_b, of_c;
  cublasLtCreate(&lt);
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                 sizeof transposed);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                 sizeof epilogue);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, kK, kM, kK);
  cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, kK, kN, kK);
  cublasLtMatrixLayoutCreate(&of_c, CUDA_R_32F, kM, kN, kM);
  cublasLtMatmul(lt, product, &two, A, of_a, B, of_b, &zero, C, of_c, C, of_c, nullptr, nullptr, 0,
                 nullptr);
  good = good && is_right(C, 0, true);
  for (const auto each : {of_a, of_b, of_c}) cublasLtMatrixLayoutDestroy(each);
  cublasLtMatmulDescDestroy(product);
  cublasLtDestroy(lt);

  for (float* each : {A, B, C, bias}) cudaFree(each);
  for (__half* each : {half_a, half_b, half_c}) cudaFree(each);
  std::puts(good ? "right" : "wrong");
  return good ? 0 : 1;
}
