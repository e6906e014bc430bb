// expect: deadlock at 12
// launch: k<<<1, 64>>>(out: i32[64] = zeros)
// A thread waits for a flag that no thread sets.
__global__ void k(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
#ifdef FIXED
  if (threadIdx.x == 32) atomicExch(&flag, 1);
#endif
  if (threadIdx.x == 0)
    while (atomicAdd(&flag, 0) == 0) {
    }
  out[threadIdx.x] = 1;
}
