// expect: race at 11
// launch: k<<<1, 64>>>(out: u8[64])
// Two threads write one byte; neighbouring bytes of one word may be written by two threads.
__global__ void k(unsigned char* out) {
  __shared__ unsigned char bytes[64];
#ifdef FIXED
  const int i = threadIdx.x;
#else
  const int i = threadIdx.x % 32;
#endif
  bytes[i] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = bytes[i];
}
