// expect: uninitialized-read at 12
// launch: k<<<1, 32>>>(C: f32[64], 1)
// The accumulators of mma.sync, of which nobody has set the last.
__global__ void k(float* C, int n) {
  const unsigned a = 0x3c003c00u, b = a;
  float c[4];
#ifdef FIXED
  for (int i = 0; i < 4; ++i) c[i] = 0;
#else
  for (int i = 0; i < 2 + n; ++i) c[i] = 0;
#endif
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, "
      "%2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(a), "r"(b));
  if (threadIdx.x < 16)
    for (int i = 0; i < 4; ++i) C[4 * threadIdx.x + i] = c[i];
}
