// expect: race at 14
// Lanes of a warp store one value to one element at once, of which one lands; stores of several
// warps are a race.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace groups = cooperative_groups;

__global__ void sum(const int* x, int* out) {
  __shared__ int sums[4], is_positive;
  auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  const int i = threadIdx.x;
  sums[i / 32] = groups::reduce(warp, x[i], groups::plus<int>());
#ifndef FIXED
  if (x[i] > 0) is_positive = 1;
#else
  if (i == 0) is_positive = x[i] > 0;
#endif
  __syncthreads();
  if (i == 0) *out = is_positive * (sums[0] + sums[1] + sums[2] + sums[3]);
}

int main() {
  int *x, *out, host[128], total = 0;
  for (int& each : host) each = 3;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof total);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 128>>>(x, out);
  cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return total == 3 * 128 ? 0 : 1;
}
