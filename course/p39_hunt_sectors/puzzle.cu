// Puzzle 39 in plain CUDA: bug hunt. The report says: 32 sectors for a request.
// out[r] = sum of row r of a, 64 x 64, one block of 32 x 8 threads for each 32 rows.
// The numbers are right; the traffic is not.
constexpr int SIZE = 64, ROWS = 32;

__global__ void row_sums(const float* a, float* out) {
  __shared__ float part[ROWS][SIZE + 1];
  const int first = blockIdx.x * ROWS;
  //> CHANGE the loop below: run the file first, and read what its loads cost
  for (int row = threadIdx.y; row < ROWS; row += 8)
    for (int col = threadIdx.x; col < SIZE; col += 32)
      part[row][col] = a[(first + row) * SIZE + col];
  //> instead
  for (int row = threadIdx.x; row < ROWS; row += 32)
    for (int col = threadIdx.y; col < SIZE; col += 8)
      part[row][col] = a[(first + row) * SIZE + col];
  //> end
  __syncthreads();
  if (threadIdx.y == 0) {
    float sum = 0;
    for (int col = 0; col < SIZE; ++col) sum += part[threadIdx.x][col];
    out[first + threadIdx.x] = sum;
  }
}
