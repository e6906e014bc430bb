// expect: missing-barrier at 9
// launch: k<<<1, 32>>>(out: i32[32] = zeros)
// Lanes of one warp shuffle at two places.
__global__ void k(int* out) {
  int value = threadIdx.x;
#ifdef FIXED
  value = __shfl_sync(0xffffffffu, value, 0);
#else
  if (threadIdx.x < 16) value = __shfl_sync(0xffffffffu, value, 0);
  else value = __shfl_sync(0xffffffffu, value + 1, 0);
#endif
  out[threadIdx.x] = value;
  __syncwarp();
}
