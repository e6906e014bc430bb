// Puzzle 15 in plain CUDA: the naive product, coalesced.
// C = A * B: (64,16) times (16,64), blocks of 32 x 8 threads.
constexpr int N = 64, K = 16;

__global__ void coalesced_product(const float* A, const float* B, float* C) {
  //> CHANGE the 2 lines below: the roles of x and y; the grid is 2 x 8: choose which of the two counts what
  const int row = blockIdx.y * 8 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  //> instead
  const int row = blockIdx.x * 32 + threadIdx.x;
  const int col = blockIdx.y * 8 + threadIdx.y;
  //> end
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
