// unknown: grid.sync() waits for 20480 threads
// All blocks of a grid that waits for itself run at one time.
#include <cooperative_groups.h>

__global__ void k(int* x) {
  x[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
}
int main() {
  int* x;
  cudaMalloc(&x, 20 * sizeof *x);
  void* arguments[] = {&x};
  cudaLaunchCooperativeKernel((void*)k, dim3(20), dim3(1024), arguments);
  cudaFree(x);
}
