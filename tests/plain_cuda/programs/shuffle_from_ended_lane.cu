// expect: out-of-bounds at 10
// launch: k<<<1, 32>>>(x: const i32[20], out: i32[1], n: 20)
// Lanes without an element have ended before the others add up over the whole warp.
__global__ void k(const int* x, int* out, int n) {
  const int t = threadIdx.x;
#ifndef FIXED
  if (t >= n) return;
#endif
  int v = t < n ? x[t] : 0;
  for (int i = 16; i > 0; i >>= 1) v += __shfl_down_sync(0xffffffffu, v, i);
  if (t == 0) out[0] = v;
}
