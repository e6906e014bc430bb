// expect: diverged-barrier at 9
// Whole warps meet at barriers in different branches: the device counts warps, so they do meet.
__global__ void exchange(int* x) {
  __shared__ int s[64];
  const int i = threadIdx.x;
  s[i] = x[i];
#ifndef FIXED
  if (i < 32) __syncthreads();
  else __syncthreads();
#else
  __syncthreads();
#endif
  x[i] = s[63 - i];
  __syncthreads();
}

int main() {
  int *x, host[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  exchange<<<1, 64>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[0] == 63 ? 0 : 1;
}
