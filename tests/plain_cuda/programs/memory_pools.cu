// Pools of memory, occupancy and other calls that describe or advise the one device.
#include <cstdint>
#include <cstdio>

__global__ void twice(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 2 * in[i];
}

int main() {
  const int n = 100;
  int host[n], wrong = 0, blocks = 0, grid = 0, block = 0, supported = 0;
  for (int i = 0; i < n; ++i) host[i] = i;
  wrong += cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0) != cudaSuccess;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemPool_t pool, own;
  wrong += cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess || supported != 1;
  std::uint64_t keep = UINT64_MAX, kept = 0, used = 0;
  wrong += cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) != cudaSuccess;
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  wrong += kept != keep;
  cudaMemPoolProps how = {};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, 0};
  wrong += cudaMemPoolCreate(&own, &how) != cudaSuccess;
  int *in, *out;
  cudaMallocAsync(&in, sizeof host, stream);
  cudaMallocFromPoolAsync(&out, sizeof host, own, stream);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  wrong += used < 2 * sizeof host;
  cudaMemcpyAsync(in, host, sizeof host, cudaMemcpyHostToDevice, stream);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, twice, 0, 256);
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, twice, block, 0, 0);
  wrong += block != 256 || blocks != 8 || grid % 8 != 0;
  twice<<<(n + block - 1) / block, block, 0, stream>>>(in, out, n);
  cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < n; ++i) wrong += host[i] != 2 * i;
  cudaFreeAsync(in, stream);
  cudaFreeAsync(out, stream);
  cudaStreamSynchronize(stream);
  wrong += cudaMemPoolTrimTo(pool, 0) != cudaSuccess || cudaMemPoolDestroy(own) != cudaSuccess;
  cudaStreamDestroy(stream);
  if (wrong != 0) std::printf("%d wrong\n", wrong);
  return wrong;
}
