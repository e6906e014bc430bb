// expect: diverged-barrier at 11
// launch: k<<<1, 64>>>(out: i32[64] = zeros)
// A loop with a barrier runs more often for some threads of a warp: they meet others at another.
__global__ void k(int* out) {
  const int i = threadIdx.x;
#ifdef FIXED
  const int rounds = 3;
#else
  const int rounds = 2 + i / 8 % 2;
#endif
  for (int round = 0; round < rounds; ++round) __syncthreads();
  __syncthreads();
  out[i] = rounds;
  __syncthreads();
}
