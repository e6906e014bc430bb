// Puzzle 17 in plain CUDA: tiled, for any size.
// C = A * B, (M,K) times (K,N), with tiles of 8 x 8, where no extent is a multiple of 8.
constexpr int T = 8;

__global__ void tiled_any_size(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[T][T], b[T][T];
  const int y = threadIdx.y, x = threadIdx.x;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  //> FILL ME IN (about 8 lines): as puzzle 16, with three guards; what does not exist counts as zero
  for (int k = 0; k < K; k += T) {
    a[y][x] = row < M && k + x < K ? A[row * K + k + x] : 0;
    b[y][x] = k + y < K && col < N ? B[(k + y) * N + col] : 0;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
  //> end
}
