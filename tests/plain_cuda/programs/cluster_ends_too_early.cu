// expect: cluster-exit at 12
// A block may end while the other one still reads its shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine[32];
  const auto cluster = cg::this_cluster();
  mine[threadIdx.x] = threadIdx.x;
  cluster.sync();
  out[32 * blockIdx.x + threadIdx.x] =
      *cluster.map_shared_rank(&mine[threadIdx.x], 1 - cluster.block_rank());
#ifdef FIXED
  cluster.sync();
#endif
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  exchange<<<2, 32>>>(x);
  cudaFree(x);
}
