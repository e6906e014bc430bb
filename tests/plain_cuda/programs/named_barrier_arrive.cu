// expect: race at 16
// launch: k<<<1, 64>>>(in: const i32[128], out: i32[128])
// A warp produces and another consumes: who need not wait arrives.
__device__ void sync(int id) { asm volatile("barrier.cta.sync %0, 64;" ::"r"(id) : "memory"); }
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" ::"r"(id) : "memory"); }
__global__ void k(const int* in, int* out) {
  __shared__ int buffer[2][32];
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
#ifdef FIXED
      if (i >= 2) sync(3 + (i & 1));
#else
      if (i == 2) sync(3);  // and not of the other buffer
#endif
      buffer[i & 1][lane] = in[32 * i + lane];
      arrive(1 + (i & 1));
    } else {
      sync(1 + (i & 1));
      out[32 * i + lane] = buffer[i & 1][31 - lane];
      if (i < 2) arrive(3 + (i & 1));
    }
  }
}
