// expect: race at 9
// launch: k<<<1, 64>>>(out: i32[64])
// All threads write the same value to one element: a race, whatever the values are.
__global__ void k(int* out) {
  __shared__ int s;
#ifdef FIXED
  if (threadIdx.x == 0)
#endif
    s = 1;
  __syncthreads();
  out[threadIdx.x] = s;
}
