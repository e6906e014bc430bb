// unknown: last at endless_with_barriers.cu:11
// launch: k<<<1, 64>>>(out: i32[64] = zeros)
// flags: --time-limit 2
// Threads that wait for each other forever.
__global__ void k(int* out) {
#ifdef FIXED
  const int rounds = 3;
#else
  const int rounds = 0x7fffffff;
#endif
  for (int i = 0; i < rounds; ++i) __syncthreads();
  out[threadIdx.x] = 1;
}
