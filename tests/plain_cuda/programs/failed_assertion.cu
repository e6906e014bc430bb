// expect: exception at 3
#include <cassert>
__global__ void k(const int* in) { assert(in[threadIdx.x] == 0); }
int main() {
  int* in;
  cudaMalloc(&in, 32 * sizeof(int));
#ifdef FIXED
  cudaMemset(in, 0, 32 * sizeof(int));
#else
  cudaMemset(in, 1, 32 * sizeof(int));
#endif
  k<<<1, 32>>>(in);
  cudaFree(in);
}
