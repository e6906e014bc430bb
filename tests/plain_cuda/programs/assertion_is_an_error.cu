// expect: exception at 3
#include <cassert>
__global__ void k(int n) { assert(threadIdx.x < n); }
int main() {
#ifdef FIXED
  k<<<1, 32>>>(32);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
#else
  k<<<1, 32>>>(16);
  return cudaDeviceSynchronize() == cudaErrorAssert && cudaGetLastError() == cudaErrorAssert ? 0
                                                                                             : 3;
#endif
}
