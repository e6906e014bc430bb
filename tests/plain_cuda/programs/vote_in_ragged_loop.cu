// expect: early-return at 7
// launch: k<<<1, 32>>>(out: i32[32])
// Lanes leave the loop at different times, and the vote in it names all of them.
__global__ void k(int* out) {
  int sum = 0;
#ifndef FIXED
  for (int i = 0; i < threadIdx.x; ++i) sum += __any_sync(0xffffffffu, i & 1);
#else
  for (int i = 0; i < 32; ++i) {
    const int any = __any_sync(0xffffffffu, i & 1);
    if (i < threadIdx.x) sum += any;
  }
#endif
  out[threadIdx.x] = sum;
}
