// The ladder's `tiled` with tiles of 16 as plain CUDA: programs_test.py compares its counters with
// those of `tessera check tiled`.
#include <vector>
constexpr int T = 16;
__global__ void tiled(const float* A, const float* B, float* C, int m, int n, int k) {
  __shared__ float As[T][T], Bs[T][T];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int l = 0; l < k; l += T) {
    As[y][x] = row < m && l + x < k ? A[row * k + l + x] : 0.0f;
    Bs[y][x] = l + y < k && col < n ? B[(l + y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += As[y][i] * Bs[i][x];
    __syncthreads();
  }
  if (row < m && col < n) C[row * n + col] = sum;
}
int main() {
  const int m = 64, n = 64, k = 64;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 7);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 5);
  float *A, *B, *C;
  cudaMalloc(&A, a.size() * sizeof(float));
  cudaMalloc(&B, b.size() * sizeof(float));
  cudaMalloc(&C, c.size() * sizeof(float));
  cudaMemcpy(A, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(B, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  tiled<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(A, B, C, m, n, k);
  cudaMemcpy(c.data(), C, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(A), cudaFree(B), cudaFree(C);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      if (sum != c[i * n + j]) return 1;
    }
}
