// Puzzle 9 in plain CUDA: neighbouring threads, neighbouring elements.
// out = 2 a, 64 x 32, blocks of 32 x 8 threads. Right, but it loads eight times too many bytes.
constexpr int COLS = 32;

__global__ void twice(const float* a, float* out) {
  //> CHANGE the 2 lines below: let neighbouring threads take neighbouring elements, each block 8 whole rows
  const int row = blockIdx.x * 8 + threadIdx.y;
  const int col = threadIdx.x;
  //> instead
  const int row = blockIdx.x / 4 * 32 + threadIdx.x;
  const int col = blockIdx.x % 4 * 8 + threadIdx.y;
  //> end
  out[row * COLS + col] = 2 * a[row * COLS + col];
}
