// expect: early-return at 9
// launch: k<<<1, 32>>>(out: i32[32])
// The mask names lanes that take the other branch, store and end.
__global__ void k(int* out) {
  int v = threadIdx.x;
#ifdef FIXED
  v = __shfl_sync(0xffffffffu, v, threadIdx.x < 16 ? 0 : threadIdx.x);
#else
  if (threadIdx.x < 16) v = __shfl_sync(0xffffffffu, v, 0);
#endif
  out[threadIdx.x] = v;
}
