// expect: race at 6
// launch: wait<<<2, 32>>>(flag: i32[1], out: i32[64])
// A block waits for a flag that holds anything before another block sets it.
__global__ void wait(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) *flag = 1;
    else
      while (*flag != 1) __nanosleep(1);
  }
  __syncthreads();
  out[32 * blockIdx.x + threadIdx.x] = 1;
}
