// expect: barrier-misuse at 12
// launch: k<<<1, 96>>>(out: i32[96] = zeros)
// A block has 16 named barriers, 0 to 15.
__global__ void k(int* out) {
  __shared__ int s[64];
  const int i = threadIdx.x;
  if (i < 64) {
    s[i] = i;
#ifdef FIXED
    asm volatile("bar.sync 1, 64;" ::: "memory");
#else
    asm volatile("bar.sync 16, 64;" ::: "memory");
#endif
  }
  out[i] = i < 64 ? s[63 - i] : 0;
}
