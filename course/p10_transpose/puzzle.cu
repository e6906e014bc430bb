// Puzzle 10 in plain CUDA: transpose through shared memory.
// out(c, r) = a(r, c), 32 x 32, one block of 32 x 8 threads. Each thread moves four elements.
constexpr int N = 32;

__global__ void transpose(const float* a, float* out) {
  __shared__ float tile[N][N];
  const int x = threadIdx.x;
  //> CHANGE the line below (to about 3): rows y, y + 8, ... into the tile; wait; rows of out from columns of the tile
  for (int y = threadIdx.y; y < N; y += 8) tile[y][x] = a[y * N + x];
  __syncthreads();
  for (int y = threadIdx.y; y < N; y += 8) out[y * N + x] = tile[x][y];
  //> instead
  for (int y = threadIdx.y; y < N; y += 8) out[x * N + y] = a[y * N + x];
  //> end
}
