// expect: race at 12
// launch: k<<<1, 64>>>(count: u32[1] = zeros)
// The store of a thread whose update did not come last meets those that come later.
__global__ void k(unsigned* count) {
  if (threadIdx.x % 32 != 0) return;
  __threadfence();
  const bool is_last = atomicAdd(count, 1) == 1;
  __threadfence();
#ifdef FIXED
  if (is_last) *count = 0;
#else
  if (!is_last && threadIdx.x == 0) *count = 0;
#endif
}
