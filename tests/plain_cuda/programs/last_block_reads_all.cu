// The last block of a reduction reads what all other blocks have written: more elements than one
// block writes, none of them uninitialized.
#include <cstdio>

__global__ void sum(const int* in, int* parts, unsigned* count, int* total) {
  __shared__ bool is_last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  parts[i] = in[i];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  int sum = 0;
  for (unsigned block = 0; block < gridDim.x; ++block)
    sum += parts[block * blockDim.x + threadIdx.x];
  atomicAdd(total, sum);
}

int main() {
  constexpr int kBlocks = 256, kThreads = 64, n = kBlocks * kThreads;
  static int host[n];
  for (int& each : host) each = 1;
  int *in, *parts, *total, out = 0;
  unsigned* count;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&parts, sizeof host);
  cudaMalloc(&count, sizeof *count);
  cudaMalloc(&total, sizeof *total);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof *count);
  cudaMemset(total, 0, sizeof *total);
  sum<<<kBlocks, kThreads>>>(in, parts, count, total);
  cudaMemcpy(&out, total, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%d\n", out);
  cudaFree(in);
  cudaFree(parts);
  cudaFree(count);
  cudaFree(total);
  return out == n ? 0 : 1;
}
