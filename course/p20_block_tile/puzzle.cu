// Puzzle 20 in plain CUDA: a tile of results in the registers of one thread.
// C = A * B: (32,16) times (16,32), one block of 8 x 8 threads, each with 4 x 4 elements of C.
constexpr int TM = 4, TN = 4;

__global__ void block_tile(const float* A, const float* B, float* C) {
  __shared__ float a[32][16], b[16][32];
  for (int i = 8 * threadIdx.y + threadIdx.x; i < 32 * 16; i += 8 * 8) {
    a[i / 16][i % 16] = A[i];
    b[i / 32][i % 32] = B[i];
  }
  __syncthreads();
  const int row = threadIdx.y * TM, col = threadIdx.x * TN;  // the first of my 4 x 4
  float sum[TM][TN] = {};
  for (int k = 0; k < 16; ++k) {
    //> FILL ME IN (about 5 lines): TM elements of a and TN of b into registers, then all their products
    float of_a[TM], of_b[TN];
    for (int i = 0; i < TM; ++i) of_a[i] = a[row + i][k];
    for (int j = 0; j < TN; ++j) of_b[j] = b[k][col + j];
    for (int i = 0; i < TM; ++i)
      for (int j = 0; j < TN; ++j) sum[i][j] += of_a[i] * of_b[j];
    //> end
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) C[(row + i) * 32 + col + j] = sum[i][j];
}
