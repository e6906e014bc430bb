// Puzzle 11 in plain CUDA: bank conflicts.
// The transposition of puzzle 10. Right, coalesced, and each read of the tile takes 32 passes.
constexpr int N = 32;

__global__ void transpose_without_conflicts(const float* a, float* out) {
  //> CHANGE the line below: another shape of the tile, so that the elements of one column lie in different banks
  __shared__ float tile[N][N + 1];
  //> instead
  __shared__ float tile[N][N];
  //> end
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < N; y += 8) tile[y][x] = a[y * N + x];
  __syncthreads();
  for (int y = threadIdx.y; y < N; y += 8) out[y * N + x] = tile[x][y];
}
