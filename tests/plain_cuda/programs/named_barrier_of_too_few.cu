// expect: missing-barrier at 12
// launch: k<<<1, 96>>>(out: i32[96] = zeros)
// A named barrier waits for three warps, of which two come.
__global__ void k(int* out) {
  __shared__ int s[64];
  const int i = threadIdx.x;
  if (i < 64) {
    s[i] = i;
#ifdef FIXED
    asm volatile("bar.sync 1, 64;" ::: "memory");
#else
    asm volatile("bar.sync 1, 96;" ::: "memory");
#endif
  }
  out[i] = i < 64 ? s[63 - i] : 0;
}
