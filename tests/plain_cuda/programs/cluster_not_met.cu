// expect: race at 10
// The other block's elements are read before the cluster has met.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine[32];
  const auto cluster = cg::this_cluster();
  cluster.sync();
  mine[threadIdx.x] = threadIdx.x;
#ifdef FIXED
  cluster.sync();
#else
  __syncthreads();
#endif
  out[32 * blockIdx.x + threadIdx.x] =
      *cluster.map_shared_rank(&mine[threadIdx.x], 1 - cluster.block_rank());
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  exchange<<<2, 32>>>(x);
  cudaFree(x);
}
