// expect: impossible-launch at 12, impossible-launch at 15
// A launch call returns the error of its own launch, not an earlier pending one.
#include <cstdio>

__global__ void k(int* x) { *x = 1; }

int main() {
  int *x, wrong = 0;
  cudaMalloc(&x, sizeof *x);
  void* arguments[] = {&x};
#ifndef FIXED
  k<<<1, 2048>>>(x);
#endif
#ifndef FIXED
  wrong += cudaLaunchKernel((void*)k, dim3(0), dim3(1), arguments, 0, 0) !=
           cudaErrorInvalidConfiguration;
#endif
  wrong += cudaLaunchKernel((void*)k, dim3(1), dim3(1), arguments, 0, 0) != cudaSuccess;
#ifndef FIXED
  wrong += cudaGetLastError() != cudaErrorInvalidConfiguration;
#endif
  wrong += cudaGetLastError() != cudaSuccess;
  cudaFree(x);
  return wrong;
}
