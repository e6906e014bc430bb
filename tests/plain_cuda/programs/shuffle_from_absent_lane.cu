// expect: out-of-bounds at 7
// launch: k<<<1, 48>>>(out: i32[48])
// The second warp has 16 lanes, which read from the 16 behind them.
__global__ void k(int* out) {
  int v = threadIdx.x;
#ifndef FIXED
  v += __shfl_down_sync(0xffffffffu, v, 16);
#else
  v += __shfl_down_sync(0xffffffffu, v, 8, 16);  // the upper half of each 16 reads itself
#endif
  out[threadIdx.x] = v;
}
