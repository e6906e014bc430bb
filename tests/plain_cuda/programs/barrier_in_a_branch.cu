// expect: diverged-barrier at 6
__global__ void k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
#ifndef FIXED
  if (threadIdx.x < 48) __syncthreads();
#else
  __syncthreads();
#endif
  out[threadIdx.x] = s[threadIdx.x];
}
int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(out);
  cudaFree(out);
}
