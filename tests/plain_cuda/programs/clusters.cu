// Blocks of a cluster: ranks, barriers in one and in two halves, reads, writes and atomics in the
// shared memory of other blocks, static and dynamic; the size from the kernel or from the launch.
#include <cooperative_groups.h>

#include <cstdio>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) sums(const int* in, int* out) {
  __shared__ int mine[64], total;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  mine[t] = in[64 * blockIdx.x + t];
  if (t == 0) total = 0;
  cluster.sync();
  // Each block adds up a quarter of every block's elements, in the first block of the cluster.
  const int* there = cluster.map_shared_rank(mine, t / 16);
  atomicAdd(cluster.map_shared_rank(&total, 0), there[16 * rank + t % 16]);
  cluster.sync();
  if (rank == 0 && t == 0) out[blockIdx.x / 4] = total;
}

__global__ void turn(int* out) {
  extern __shared__ int tile[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned count = cluster.num_blocks(), rank = cluster.block_rank();
  cluster.sync();
  int* next = cluster.map_shared_rank(tile, (rank + 1) % count);
  next[threadIdx.x] = static_cast<int>(100 * rank + threadIdx.x);
  cluster.barrier_arrive();
  cluster.barrier_wait();
  const int passed = cluster.query_shared_rank(next) == (rank + 1) % count;
  out[blockIdx.x * blockDim.x + threadIdx.x] = passed ? tile[threadIdx.x] : -1;
}

int main() {
  int host[512], *in, *out, wrong = 0;
  for (int i = 0; i < 512; ++i) host[i] = i % 37;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<8, 64>>>(in, out);
  int got[2], want[2] = {};
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 512; ++i) want[i / 256] += host[i];
  wrong += got[0] != want[0] || got[1] != want[1];

  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = 6;
  how.blockDim = 32;
  how.dynamicSmemBytes = 32 * sizeof(int);
  how.attrs = attribute;
  how.numAttrs = 1;
  wrong += cudaLaunchKernelEx(&how, turn, out) != cudaSuccess;
  cudaMemcpy(host, out, 192 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 192; ++i) wrong += host[i] != 100 * (1 - i / 32 % 2) + i % 32;
  turn<<<3, 32, 32 * sizeof(int)>>>(out);  // without a cluster each block is one
  cudaMemcpy(host, out, 96 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 96; ++i) wrong += host[i] != i % 32;
  cudaFree(in);
  cudaFree(out);
  if (wrong != 0) std::printf("%d wrong\n", wrong);
  return wrong;
}
