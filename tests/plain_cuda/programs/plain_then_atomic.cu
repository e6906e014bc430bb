// expect: race at 10
// launch: k<<<1, 64>>>(out: i32[64])
// A plain write meets other threads' atomic updates.
__global__ void k(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
#ifdef FIXED
  __syncthreads();
#endif
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}
