// expect: diverged-barrier at 13, diverged-barrier at 15
// launch: k<<<2, dim3(8, 8)>>>(in: f32[9,16], out: f32[9,8], 9)
// The barriers are inside the guard of the rows: threads past the edge never come.
__global__ void k(const float* in, float* out, int rows) {
  __shared__ float tile[8][8];
  const int x = threadIdx.x, y = threadIdx.y, row = 8 * blockIdx.x + y;
  float sum = 0;
  for (int step = 0; step < 2; ++step) {
#ifndef FIXED
    if (row >= rows) continue;
#endif
    tile[y][x] = row < rows ? in[row * 16 + step * 8 + x] : 0;
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += tile[y][i];
    __syncthreads();
  }
  if (row < rows) out[row * 8 + x] = sum;
}
