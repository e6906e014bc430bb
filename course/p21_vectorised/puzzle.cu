// Puzzle 21 in plain CUDA: four elements with one load.
// C = A * B: (32,32) times (32,32), tiles of 32 x 16 and 16 x 32.
// The loads go one element at a time.
constexpr int N = 32, KT = 16, THREADS = 32 * 4;

__global__ void vectorised(const float* A, const float* B, float* C) {
  __shared__ alignas(16) float a[N][KT], b[KT][N];
  const int number = 32 * threadIdx.y + threadIdx.x;
  float sum[8] = {};
  for (int k = 0; k < N; k += KT) {
    //> CHANGE the 4 lines below: the same copies with float4, four elements at a time
    for (int i = 4 * number; i < N * KT; i += 4 * THREADS) {
      *reinterpret_cast<float4*>(&a[i / KT][i % KT]) =
          *reinterpret_cast<const float4*>(&A[i / KT * N + k + i % KT]);
      *reinterpret_cast<float4*>(&b[i / N][i % N]) =
          *reinterpret_cast<const float4*>(&B[(k + i / N) * N + i % N]);
    }
    //> instead
    for (int i = number; i < N * KT; i += THREADS) {
      a[i / KT][i % KT] = A[i / KT * N + k + i % KT];
      b[i / N][i % N] = B[(k + i / N) * N + i % N];
    }
    //> end
    __syncthreads();
    for (int n = 0; n < KT; ++n)
      for (int i = 0; i < 8; ++i) sum[i] += a[threadIdx.y * 8 + i][n] * b[n][threadIdx.x];
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) C[(threadIdx.y * 8 + i) * N + threadIdx.x] = sum[i];
}
