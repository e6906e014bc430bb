// Puzzle 43 in plain CUDA: bug hunt. The report says: a 32-way bank conflict.
// out[i] = a(i, 0) x(0) + ... + a(i, 31) x(31), one warp. The numbers are right.
constexpr int SIZE = 32;

__global__ void matrix_vector(const float* a, const float* x, float* out) {
  //> CHANGE the line below: run the file first, and read which access has the conflict
  __shared__ float rows[SIZE][SIZE + 1];
  //> instead
  __shared__ float rows[SIZE][SIZE];
  //> end
  const int i = threadIdx.x;
  for (int row = 0; row < SIZE; ++row) rows[row][i] = a[row * SIZE + i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < SIZE; ++k) sum += rows[i][k] * x[k];
  out[i] = sum;
}
