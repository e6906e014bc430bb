// expect: uninitialized-read at 13
// launch: k<<<1, dim3(16, 16)>>>(in: f32[16,9], out: f32[16,16], 9)
// The edge of a tile is not filled with zero: what is read was never written.
__global__ void k(const float* in, float* out, int n) {
  __shared__ float tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  if (x < n) tile[y][x] = in[y * n + x];
#ifdef FIXED
  else tile[y][x] = 0;
#endif
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += tile[y][i];
  out[y * 16 + x] = sum;
}
