// launch: k<<<1, 32>>>(x: const i32[20], out: i32[32], n: 20)
// Lanes that have ended may be named, where nobody reads from them.
__global__ void k(const int* x, int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) {
    out[t] = 0;
    return;
  }
  const int v = x[t];
  const unsigned positive = __ballot_sync(0xffffffffu, v > 0);
  __syncwarp();
  out[t] = __shfl_sync(0xffffffffu, v, 0) + __popc(positive);
}
