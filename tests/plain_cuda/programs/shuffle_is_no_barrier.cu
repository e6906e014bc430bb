// expect: race at 7
// launch: k<<<1, 32>>>(out: i32[32])
// A shuffle lets the lanes meet, but it orders no memory.
__global__ void k(int* out) {
  __shared__ int s[32];
  const int i = threadIdx.x;
  s[i] = i;
  const int first = __shfl_sync(0xffffffffu, i, 0);
#ifdef FIXED
  __syncwarp();
#endif
  out[i] = s[31 - i] + first;
}
