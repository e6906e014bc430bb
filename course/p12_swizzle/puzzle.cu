// Puzzle 12 in plain CUDA: a swizzle instead of padding.
// The same transposition; the tile stays 32 x 32, but its elements are in another order.
constexpr int N = 32;

// The column of the tile that holds the element (row, col).
__device__ int place(int row, int col) {
  //> CHANGE the line below: an exclusive or of both moves the elements of one column to 32 banks
  return col ^ row;
  //> instead
  return col + 0 * row;
  //> end
}

__global__ void transpose_swizzled(const float* a, float* out) {
  __shared__ float tile[N][N];
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < N; y += 8) tile[y][place(y, x)] = a[y * N + x];
  __syncthreads();
  for (int y = threadIdx.y; y < N; y += 8) out[y * N + x] = tile[x][place(x, y)];
}
