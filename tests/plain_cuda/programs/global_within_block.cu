// expect: race at 6
// launch: k<<<1, 64>>>(out: f32[128])
// A thread reads from global memory what another thread of its block wrote, without a barrier.
__global__ void k(float* out) {
  const int i = threadIdx.x;
  out[i] = i;
#ifdef FIXED
  __syncthreads();
#endif
  out[64 + i] = out[63 - i];
}
