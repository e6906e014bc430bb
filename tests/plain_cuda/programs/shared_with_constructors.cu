// Shared variables whose type is a parameter and has constructors: the compiler's guards of them,
// of which one may be the first byte of shared memory, are no accesses of the program.
#include <cuda_fp16.h>

template <class T, class Sum, int kThreads>
__global__ void k(T* out) {
  __shared__ Sum a[kThreads], b[kThreads];
  a[threadIdx.x] = Sum(2);
  b[threadIdx.x] = Sum(1);
  out[threadIdx.x] = T(a[threadIdx.x] - b[threadIdx.x]);
}

int main() {
  float* x = nullptr;
  __half* y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  k<float, float, 32><<<1, 32>>>(x);
  k<__half, __half, 32><<<1, 32>>>(y);
  __half first;
  cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return static_cast<float>(first) == 1 ? 0 : 1;
}
