// expect: race at 23
// Two streams touch x; the event that orders them is waited for in the twin alone.
#include <cstdio>

__global__ void fill(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 7; }
__global__ void twice(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}

int main() {
  int *x, *y, host[64];
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t filled;
  cudaEventCreate(&filled);
  fill<<<2, 32, 0, first>>>(x);
  cudaEventRecord(filled, first);
#ifndef FIXED
  twice<<<2, 32, 0, second>>>(x, y);
#else
  cudaStreamWaitEvent(second, filled);
  twice<<<2, 32, 0, second>>>(x, y);
#endif
  cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, second);
  cudaStreamSynchronize(second);
  cudaEventDestroy(filled);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(x);
  cudaFree(y);
  return host[63] == 14 ? 0 : 1;
}
