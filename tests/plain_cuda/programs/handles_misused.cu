// expect: runtime-misuse at 25, runtime-misuse at 27, runtime-misuse at 29, runtime-misuse at 30, runtime-misuse at 31, runtime-misuse at 32, runtime-misuse at 33, runtime-misuse at 34
// Streams and events after they were destroyed, and calls without a place for what they create.
#include <cstdio>
__global__ void one(int* x) { x[threadIdx.x] = 1; }
#define SAYS(error, call) \
  if (call != error) return std::printf("line %d\n", __LINE__)
int main() {
  int *x, h[8];
  cudaMalloc(&x, sizeof h);
  cudaStream_t stream;
  cudaEvent_t event;
  SAYS(cudaSuccess, cudaStreamCreate(&stream));
  SAYS(cudaSuccess, cudaEventCreate(&event));
  one<<<1, 8, 0, stream>>>(x);
  SAYS(cudaSuccess, cudaEventRecord(event, stream));
  SAYS(cudaSuccess, cudaMemcpyAsync(h, x, sizeof h, cudaMemcpyDeviceToHost, stream));
  SAYS(cudaSuccess, cudaStreamSynchronize(stream));
  SAYS(cudaSuccess, cudaEventDestroy(event));
  SAYS(cudaSuccess, cudaStreamDestroy(stream));
  SAYS(cudaSuccess, cudaMemcpyAsync(h, x, sizeof h, cudaMemcpyDeviceToHost, cudaStreamPerThread));
  cudaFree(x);
#ifndef FIXED
  cudaMalloc(&x, sizeof h);
  cudaMemset(x, 0, sizeof h);
  one<<<1, 8, 0, stream>>>(x);
  SAYS(cudaErrorInvalidResourceHandle, cudaGetLastError());
  SAYS(cudaErrorInvalidResourceHandle, cudaMemcpyAsync(h, x, 4, cudaMemcpyDeviceToHost, stream));
  cudaFree(x);
  SAYS(cudaErrorInvalidResourceHandle, cudaEventRecord(event));
  SAYS(cudaErrorInvalidResourceHandle, cudaEventSynchronize(event));
  SAYS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
  SAYS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
  SAYS(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
  SAYS(cudaErrorInvalidValue, cudaEventCreate(nullptr));
#endif
  return 0;
}
