// refused: clusters of blocks are not offered in plain CUDA
// A kernel that asks for its cluster is refused by name, where it asks.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine;
  auto cluster = cg::this_cluster();
  mine = static_cast<int>(cluster.block_rank());
  cluster.sync();
  out[blockIdx.x] = *cluster.map_shared_rank(&mine, 1 - mine);
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 2 * sizeof(int));
  exchange<<<2, 1>>>(x);
  cudaFree(x);
}
