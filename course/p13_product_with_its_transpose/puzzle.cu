// Puzzle 13 in plain CUDA: A times its transpose.
// C = A * A^T, 2 x 2: C(r, c) is row r of A times row c of A. The block has 3 x 3 threads.
constexpr int SIZE = 2;

__global__ void times_transpose(const float* A, float* C) {
  __shared__ float a[SIZE][SIZE];
  const int row = threadIdx.y, col = threadIdx.x;
  //> FILL ME IN (about 7 lines): A into a, wait, then the product of two of its rows
  if (row < SIZE && col < SIZE) a[row][col] = A[row * SIZE + col];
  __syncthreads();
  if (row < SIZE && col < SIZE) {
    float sum = 0;
    for (int k = 0; k < SIZE; ++k) sum += a[row][k] * a[col][k];
    C[row * SIZE + col] = sum;
  }
  //> end
}
