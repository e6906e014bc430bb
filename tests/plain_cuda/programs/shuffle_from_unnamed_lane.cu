// expect: out-of-bounds at 11
// launch: k<<<1, 32>>>(out: i32[32])
// A lane is read that the mask does not name.
__global__ void k(int* out) {
  const int t = threadIdx.x;
  int v = t;
#ifdef FIXED
  v = __shfl_sync(0xffffffffu, v, 20);
#else
  if (t < 16) {
    v = __shfl_sync(0x0000ffffu, v, 20);
  }
#endif
  __syncwarp();
  out[t] = v;
}
