// Puzzle 19 in plain CUDA: four results in the registers of one thread.
// C = A * B: (32,16) times (16,32). One block of 32 x 8 threads; each has four rows of a column of
// C.
constexpr int TM = 4;

__global__ void register_tile(const float* A, const float* B, float* C) {
  __shared__ float a[32][16], b[16][32];
  for (int i = 32 * threadIdx.y + threadIdx.x; i < 32 * 16; i += 32 * 8) {
    a[i / 16][i % 16] = A[i];
    b[i / 32][i % 32] = B[i];
  }
  __syncthreads();
  const int first = threadIdx.y * TM, col = threadIdx.x;  // my rows: first to first + TM - 1
  float sum[TM] = {};
  //> CHANGE the 2 lines below: read each element of b once, and use it for all TM sums
  for (int k = 0; k < 16; ++k) {
    const float of_b = b[k][col];
    for (int i = 0; i < TM; ++i) sum[i] += a[first + i][k] * of_b;
  }
  //> instead
  for (int i = 0; i < TM; ++i)
    for (int k = 0; k < 16; ++k) sum[i] += a[first + i][k] * b[k][col];
  //> end
  for (int i = 0; i < TM; ++i) C[(first + i) * 32 + col] = sum[i];
}
