#include <cstddef>
__global__ void fill(int* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = n;
}
template <int kFactor>
__global__ void scale(int* out) {
  out[threadIdx.x] *= kFactor;
}
__device__ volatile int flag = 3;
__device__ const int table[4] = {1, 2, 3, 4};
void note(void* data) { ++*static_cast<int*>(data); }
int main() {
  int *out, n = 32, host[32], calls = 0, least = 1, greatest = 1, read = 0;
  cudaMalloc(&out, 128);
  void* arguments[] = {&out, &n};
  cudaLaunchKernel((const void*)fill, dim3(1), dim3(32), arguments, 0, 0);
  cudaLaunchKernel((void*)scale<2>, dim3(1), dim3(32), arguments, 0, nullptr);
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(scale<3>), dim3(1), dim3(32), arguments);
  cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
  if (host[31] != 32 * 6) return 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = 1, how.blockDim = 32;
  cudaLaunchKernelEx(&how, fill, out, 7);
  cudaLaunchKernelExC(&how, (void*)scale<5>, arguments);
  cudaLaunchHostFunc(0, note, &calls);
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&read, flag, sizeof read);
  const int* address = nullptr;
  cudaGetSymbolAddress((void**)&address, table);
  int copy[4];
  cudaMemcpy(copy, address, sizeof copy, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[6] != 35 || calls != 1 || least != 0 || greatest >= 0 || read != 3 || copy[3] != 4;
}
