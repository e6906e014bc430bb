// expect: race at 8
// launch: k<<<1, 64>>>(out: i32[64])
// A counter in shared memory is read without a barrier.
__global__ void k(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
#ifdef FIXED
  __syncthreads();
#endif
  out[threadIdx.x] = count;
}
