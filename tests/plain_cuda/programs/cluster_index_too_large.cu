// expect: out-of-bounds at 17
// An index that leaves the other block's array.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine[32];
  const auto cluster = cg::this_cluster();
  mine[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const int* there = cluster.map_shared_rank(mine, 1 - cluster.block_rank());
#ifdef FIXED
  const int i = threadIdx.x;
#else
  const int i = threadIdx.x + 1;
#endif
  out[32 * blockIdx.x + threadIdx.x] = there[i];
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  exchange<<<2, 32>>>(x);
  cudaFree(x);
}
