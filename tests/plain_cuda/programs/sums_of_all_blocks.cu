// Every thread reads the parts of all blocks after a barrier of the grid: more reads of one element
// than there are of a flag or a counter.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sums(const int* x, int* parts, int* total) {
  __shared__ int part;
  const auto grid = cg::this_grid();
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, x[grid.thread_rank()]);
  __syncthreads();
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
  grid.sync();
  int sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
  total[grid.thread_rank()] = sum;
}

int main() {
  constexpr int kBlocks = 4, kThreads = 160, n = kBlocks * kThreads;
  int host[n], *x, *parts, *total;
  for (int& each : host) each = 1;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&parts, kBlocks * sizeof(int));
  cudaMalloc(&total, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  void* arguments[] = {&x, &parts, &total};
  cudaLaunchCooperativeKernel((void*)sums, kBlocks, kThreads, arguments);
  cudaMemcpy(host, total, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x), cudaFree(parts), cudaFree(total);
  for (const int each : host)
    if (each != n) return 1;
}
