// Puzzle 5 in plain CUDA: rows and columns.
// out(r, c) = a(r, c) + b(c): a is 3 x 5, row after row; b has one number for each column.
constexpr int rows = 3, cols = 5;

// The block has 8 threads along x and 4 along y.
__global__ void add_row(const float* a, const float* b, float* out) {
  const int row = threadIdx.y, col = threadIdx.x;
  //> FILL ME IN (1 or 2 lines)
  if (row < rows && col < cols) out[row * cols + col] = a[row * cols + col] + b[col];
  //> end
}
