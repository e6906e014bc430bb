// expect: race at 15
// launch: k<<<1, 32>>>(x: const i32[32], out: i32[1])
// Lanes exchange by volatile shared memory and count on running in step.
__global__ void k(const int* x, int* out) {
  __shared__ volatile int s[48];
  const int t = threadIdx.x;
  s[t] = x[t];
  if (t < 16) s[32 + t] = 0;
  __syncwarp();
  for (int i = 16; i > 0; i >>= 1) {
    const int other = s[t + i < 32 ? t + i : 32 + (t & 15)];
#ifdef FIXED
    __syncwarp();
#endif
    s[t] = s[t] + other;
#ifdef FIXED
    __syncwarp();
#endif
  }
  if (t == 0) out[0] = s[0];
}
