// expect: stack-overflow at 0
// launch: k<<<1, 64>>>(out: i32[64] = zeros)
// A thread needs more than its stack.
__device__ __noinline__ int depth(volatile int* below, int left) {
  volatile int frame[256];
  frame[left % 256] = left;
  return left == 0 ? below[0] : depth(frame, left - 1) + frame[0];
}
__global__ void k(int* out) {
  volatile int start[1] = {0};
#ifdef FIXED
  out[threadIdx.x] = depth(start, 10);
#else
  out[threadIdx.x] = depth(start, 1000000);
#endif
}
