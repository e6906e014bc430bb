// Tiles of several warps: ranks, barriers, shuffles, votes and reductions.
#include "cooperative_groups.h"
#include "cooperative_groups/reduce.h"

namespace cg = cooperative_groups;

__global__ void tiles(int* out, long long* sums) {
  __shared__ cg::block_tile_memory<256> scratch;
  __shared__ int values[256];
  auto block = cg::this_thread_block(scratch);
  auto tile = cg::tiled_partition<128>(block);
  const int i = block.thread_rank();
  values[i] = i;
  tile.sync();
  const int neighbour = values[i ^ 64];
  auto warp = cg::tiled_partition<32>(tile);
  const bool is_right = tile.thread_rank() == i % 128 && tile.meta_group_rank() == i / 128 &&
                        tile.meta_group_size() == 2 && tile.size() == 128 &&
                        neighbour == (i ^ 64) && tile.shfl(i, 3) == i / 128 * 128 + 3 &&
                        tile.any(i == 200) == (i >= 128) && tile.all(i < 128) == (i < 128) &&
                        warp.meta_group_size() == 4 && warp.meta_group_rank() == i / 32 % 4;
  out[i] = is_right;
  sums[i] = cg::reduce(tile, static_cast<long long>(i), cg::plus<long long>());
}

int main() {
  int *out, right[256];
  long long *sums, all[256];
  cudaMalloc(&out, sizeof right);
  cudaMalloc(&sums, sizeof all);
  tiles<<<1, 256>>>(out, sums);
  cudaMemcpy(right, out, sizeof right, cudaMemcpyDeviceToHost);
  cudaMemcpy(all, sums, sizeof all, cudaMemcpyDeviceToHost);
  cudaFree(out);
  cudaFree(sums);
  for (int i = 0; i < 256; ++i)
    if (!right[i] || all[i] != (i < 128 ? 127 * 64 : 128 * 128 + 127 * 64)) return 1 + i % 100;
  return 0;
}
