// Cooperative groups: tiles, coalesced threads, partitions, reductions, scans, copies, a grid.
#include <cstdio>

#include "cooperative_groups.h"
#include "cooperative_groups/memcpy_async.h"
#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"

namespace cg = cooperative_groups;

template <int Size>
__device__ int sum(cg::thread_block_tile<Size> tile, int value) {
  for (int by = tile.size() / 2; by > 0; by /= 2) value += tile.shfl_down(value, by);
  return tile.shfl(value, 0);
}

__device__ int sum_of_any(cg::thread_group group, int* scratch, int value) {
  const int rank = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < i) value += scratch[rank + i];
    group.sync();
  }
  return value;
}

__global__ void tiles(int* out) {
  __shared__ int scratch[64];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  auto warp = cg::tiled_partition<32>(block);
  const int i = block.thread_rank();
  int* mine = out + i * 16;
  mine[0] = tile.thread_rank();
  mine[1] = tile.meta_group_rank() * 100 + tile.meta_group_size();
  mine[2] = sum<8>(tile, i);
  mine[3] = cg::reduce(warp, i, cg::plus<int>());
  mine[4] = cg::reduce(tile, i * 7 % 11, cg::greater<int>());
  mine[5] = cg::inclusive_scan(tile, i);
  mine[6] = cg::exclusive_scan(warp, 2, cg::plus<int>());
  mine[7] = tile.ballot(i % 2);
  mine[8] = tile.any(i == 9) + 2 * tile.all(i < 40);
  mine[9] = tile.shfl_xor(i, 3);
  mine[10] = -1;
  if (i % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    mine[10] = active.thread_rank() * 100 + active.size();
    mine[11] = cg::reduce(active, 1, cg::plus<int>());
  } else {
    mine[11] = 0;
  }
  auto same = cg::labeled_partition(warp, i % 4);
  mine[12] = same.size() * 100 + same.thread_rank();
  const double wide = tile.shfl(i * 0.5, 1);
  mine[13] = static_cast<int>(wide * 2);
  mine[14] = sum_of_any(block, scratch, i);
  mine[15] = cg::tiled_partition(block, 4).thread_rank();
}

__global__ void copied(const float* in, float* out, int n) {
  __shared__ float tile[256];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * 256, sizeof(float) * 256);
  cg::wait(block);
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = tile[255 - i];
}

__global__ void whole_grid(int* a, int* total, int n) {
  cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank();
  a[i] = i;
  grid.sync();
  const int other = a[n - 1 - i];
  grid.sync();
  a[i] = other * 2;
  if (i == 0) *total = static_cast<int>(grid.size());
}

static int failures = 0;
static void expect(bool holds, const char* what, int i, int got) {
  if (!holds && ++failures < 20) std::printf("wrong: %s of thread %d: %d\n", what, i, got);
}

int main() {
  constexpr int n = 64;
  static int host[n * 16];
  int* d;
  cudaMalloc(&d, sizeof host);
  tiles<<<1, n>>>(d);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(d);
  for (int i = 0; i < n; ++i) {
    const int* mine = host + i * 16;
    const int first = i & ~7, warp = i & ~31;
    int most = 0, before = 0, ahead = 0, actives = 0;
    for (int j = first; j < first + 8; ++j) {
      if (j * 7 % 11 > most) most = j * 7 % 11;
      if (j <= i) before += j;
    }
    for (int j = warp; j < warp + 32; ++j) actives += j % 3 == 0, ahead += j % 3 == 0 && j < i;
    const int wanted[] = {i % 8,
                          i / 8 * 100 + 8,
                          first * 8 + 28,
                          warp * 32 + 496,
                          most,
                          before,
                          2 * (i - warp),
                          0xaa,
                          (first == 8) + 2 * (first < 40),
                          first + (i % 8 ^ 3),
                          i % 3 == 0 ? ahead * 100 + actives : -1,
                          i % 3 == 0 ? actives : 0,
                          800 + (i - warp) / 4,
                          first + 1,
                          0,
                          i % 4};
    for (int j = 0; j < 16; ++j) {
      if (j == 14) continue;
      expect(mine[j] == wanted[j], "value", i * 100 + j, mine[j]);
    }
  }
  expect(host[14] == 2016, "sum of the block", 0, host[14]);

  static float floats[512];
  for (int i = 0; i < 512; ++i) floats[i] = i;
  float *in, *out;
  cudaMalloc(&in, sizeof floats), cudaMalloc(&out, sizeof floats);
  cudaMemcpy(in, floats, sizeof floats, cudaMemcpyHostToDevice);
  copied<<<2, 64>>>(in, out, 512);
  cudaMemcpy(floats, out, sizeof floats, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 512; ++i)
    expect(floats[i] == (i / 256) * 256 + 255 - i % 256, "copy", i, static_cast<int>(floats[i]));
  cudaFree(in), cudaFree(out);

  int *a, *total, blocks = 6, threads = 32, count = blocks * threads;
  cudaMalloc(&a, count * sizeof(int)), cudaMalloc(&total, sizeof(int));
  void* arguments[] = {&a, &total, &count};
  cudaLaunchCooperativeKernel(whole_grid, dim3(blocks), dim3(threads), arguments);
  cudaMemcpy(host, a, count * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i) expect(host[i] == 2 * (count - 1 - i), "grid", i, host[i]);
  cudaFree(a), cudaFree(total);
  return failures != 0;
}
