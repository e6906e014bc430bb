// expect: host-memory at 6, race at 21
// Memory of the host that is registered: kernels may touch it within its bounds, and the host waits
// before it does.
#include <cstdlib>
__global__ void fill(int* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] = 7;
}

int main() {
#ifdef FIXED
  const int n = 32;
#else
  const int n = 33;
#endif
  int* const x = static_cast<int*>(std::malloc(40 * sizeof(int)));
  int *there = nullptr, wrong = 0;
  cudaHostRegister(x, 32 * sizeof(int), cudaHostRegisterMapped);
  cudaHostGetDevicePointer(&there, x, 0);
  fill<<<1, 64>>>(there, n);
#ifndef FIXED
  wrong += x[3] != 7;
#endif
  cudaDeviceSynchronize();
  wrong += x[4] != 7;
  cudaHostUnregister(x);
  x[5] = 1;
  std::free(x);
  return wrong;
}
