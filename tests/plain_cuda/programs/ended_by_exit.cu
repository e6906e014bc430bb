// expect: out-of-bounds at 4
#include <unistd.h>
#ifndef FIXED
__global__ void k(int* out) { out[threadIdx.x + 1] = 1; }
#else
__global__ void k(int* out) { out[threadIdx.x] = 1; }
#endif
int main() {
  if (fork() == 0) _exit(1);
  int* out;
  cudaMalloc(&out, 128);
  k<<<1, 32>>>(out);
  cudaFree(out);
  _exit(0);
}
