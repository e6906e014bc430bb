// expect: cluster-exit at 12
// A block writes to the other one, which may not have started.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine[32];
  const auto cluster = cg::this_cluster();
#ifdef FIXED
  cluster.sync();
#endif
  *cluster.map_shared_rank(&mine[threadIdx.x], 1 - cluster.block_rank()) = threadIdx.x;
  cluster.sync();
  out[32 * blockIdx.x + threadIdx.x] = mine[threadIdx.x];
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  exchange<<<2, 32>>>(x);
  cudaFree(x);
}
