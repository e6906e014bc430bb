// expect: uninitialized-read at 11
// launch: k<<<1, 32>>>(out: i32[32])
// Each lane reads what another one writes only after the next warp barrier.
__global__ void k(int* out) {
  __shared__ int s[32];
  const int i = threadIdx.x;
#ifdef FIXED
  s[i] = i;
  __syncwarp();
#endif
  out[i] = s[31 - i];
  __syncwarp();
  s[i] = i;
}
