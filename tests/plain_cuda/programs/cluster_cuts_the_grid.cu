// expect: impossible-launch at 18
// A grid of whole clusters only.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  out[blockIdx.x] = cg::this_cluster().block_rank();
}

int main() {
#ifdef FIXED
  const int blocks = 4;
#else
  const int blocks = 3;
#endif
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  exchange<<<blocks, 1>>>(x);
  cudaFree(x);
}
