// expect: missing-barrier at 11
// launch: k<<<1, 64>>>(out: i32[64] = zeros)
// A warp barrier waits for a lane that waits elsewhere.
__global__ void k(int* out) {
  __shared__ int s[64];
  const int i = threadIdx.x;
  s[i] = i;
#ifndef FIXED
  if (i != 9)
#endif
    __syncwarp();
  __syncthreads();
  out[i] = s[63 - i];
  __syncthreads();
}
