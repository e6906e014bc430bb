// expect: race at 6
// launch: k<<<2, 64>>>(x: i32[1], count: i32[1] = zeros)
// The first blocks use fences only after they have raced.
__global__ void k(int* x, int* count) {
#ifndef FIXED
  if (threadIdx.x == 0) x[0] = blockIdx.x;
#else
  if (threadIdx.x == 0 && blockIdx.x == 0) x[0] = 1;
#endif
  __syncthreads();
  __threadfence();
  if (threadIdx.x == 0) atomicAdd(count, 1);
}
