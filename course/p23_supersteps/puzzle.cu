// Puzzle 23 in plain CUDA: repair a published kernel.
// It has a race. On a GPU the numbers are right on most days. Find out what is missing.
// C = A * B: (20,40) times (40,24).
constexpr int M = 20, N = 24, K = 40, T = 16;

__global__ void published(const float* A, const float* B, float* C) {
  __shared__ float a[T][T], b[T][T];
  const int y = threadIdx.y, x = threadIdx.x;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k = 0; k < K; k += T) {
    a[y][x] = row < M && k + x < K ? A[row * K + k + x] : 0;
    b[y][x] = k + y < K && col < N ? B[(k + y) * N + col] : 0;
    __syncthreads();
    //> CHANGE the line below: run the file first, and read which lines meet
    for (int i = 0; i < T; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
    //> instead
    for (int i = 0; i < T; ++i) sum += a[y][i] * b[i][x];
    //> end
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
