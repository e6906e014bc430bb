// expect: race at 7
// What another block writes, without anything between: a race, and no read of what nobody wrote.
#include <cstdio>

__global__ void pass_on(int* x, int* y) {
#ifndef FIXED
  if (blockIdx.x == 0) x[threadIdx.x] = threadIdx.x;
  else y[threadIdx.x] = x[threadIdx.x];
#else
  if (blockIdx.x == 0) x[threadIdx.x] = threadIdx.x;
  else y[threadIdx.x] = threadIdx.x;
#endif
}

int main() {
  int *x, *y, host[32];
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  pass_on<<<2, 32>>>(x, y);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
