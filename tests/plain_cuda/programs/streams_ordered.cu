// What is ordered on streams: halves that are apart, the default stream, waits of the host,
// atomics, an allocation that goes when its stream comes to that.
#include <cstdio>

__global__ void add(int* x, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value;
}
__global__ void count(int* sum) { atomicAdd(sum, 1); }

int main() {
  constexpr int n = 128;
  int *x, *sum, *scratch, host[n], total;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&sum, sizeof total);
  cudaStream_t streams[2];
  for (cudaStream_t& each : streams) cudaStreamCreate(&each);
  cudaMemsetAsync(x, 0, sizeof host);  // on the default stream, for which both wait
  cudaMemset(sum, 0, sizeof total);
  for (int i = 0; i < 2; ++i) add<<<2, 32, 0, streams[i]>>>(x + i * n / 2, n / 2, 1);
  add<<<4, 32>>>(x, n, 1);  // waits for both
  for (int i = 0; i < 2; ++i) count<<<2, 32, 0, streams[i]>>>(sum);
  cudaDeviceSynchronize();
  add<<<4, 32, 0, streams[1]>>>(x, n, 1);
  cudaStreamSynchronize(streams[1]);
  add<<<4, 32, 0, streams[0]>>>(x, n, 1);
  cudaMallocAsync(&scratch, sizeof host, streams[0]);
  cudaMemcpyAsync(scratch, x, sizeof host, cudaMemcpyDeviceToDevice, streams[0]);
  cudaMemcpyAsync(host, scratch, sizeof host, cudaMemcpyDeviceToHost, streams[0]);
  cudaFreeAsync(scratch, streams[0]);
  cudaStreamSynchronize(streams[0]);
  cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  for (cudaStream_t each : streams) cudaStreamDestroy(each);
  cudaFree(x);
  cudaFree(sum);
  printf("%d %d\n", host[n - 1], total);
  return host[0] == 4 && host[n - 1] == 4 && total == 128 ? 0 : 1;
}
