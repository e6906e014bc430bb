// Puzzle 14 in plain CUDA: matrix multiplication in one block, from global memory and through
// shared memory. C = A * B, all 2 x 2, one block of 3 x 3 threads: five of them have no element.
constexpr int SIZE = 2;  // rows and columns of A, B and C

// tessera puzzle run p14 --cuda --naive
__global__ void naive(const float* A, const float* B, float* C) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  //> FILL ME IN (about 5 lines): one element of C, straight from A and B
  if (row < SIZE && col < SIZE) {
    float sum = 0;
    for (int k = 0; k < SIZE; ++k) sum += A[row * SIZE + k] * B[k * SIZE + col];
    C[row * SIZE + col] = sum;
  }
  //> end
}

// tessera puzzle run p14 --cuda --single-block
__global__ void single_block(const float* A, const float* B, float* C) {
  __shared__ float a[SIZE][SIZE], b[SIZE][SIZE];
  const int row = threadIdx.y, col = threadIdx.x;
  //> FILL ME IN (about 9 lines): load A and B into a and b, wait, then compute from a and b
  if (row < SIZE && col < SIZE) {
    a[row][col] = A[row * SIZE + col];
    b[row][col] = B[row * SIZE + col];
  }
  __syncthreads();  // both are complete
  if (row < SIZE && col < SIZE) {
    float sum = 0;
    for (int k = 0; k < SIZE; ++k) sum += a[row][k] * b[k][col];
    C[row * SIZE + col] = sum;
  }
  //> end
}
