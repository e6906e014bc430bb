// expect: race at 10
// launch: k<<<3, 32>>>(sums: f32[3,32] = zeros)
// All blocks add plainly into one row: blocks are never ordered.
__global__ void k(float* sums) {
#ifdef FIXED
  const int row = blockIdx.x;
#else
  const int row = 0;
#endif
  sums[row * 32 + threadIdx.x] += 1;
}
