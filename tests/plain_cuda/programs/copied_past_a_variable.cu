// expect: runtime-misuse at 22, runtime-misuse at 23, runtime-misuse at 24, runtime-misuse at 25, runtime-misuse at 26
// Copies to and from variables of the device: too long for them, or no such variable.
#include <cstdio>
__constant__ int factors[4];
__device__ int sums[8];
__global__ void add() { sums[threadIdx.x] = factors[threadIdx.x % 4]; }
#define SAYS(error, call) \
  if (call != error) return std::printf("line %d\n", __LINE__)
int main() {
  int h[16] = {1, 2, 3, 4};
  const void* pointer = h;
  SAYS(cudaSuccess, cudaMemcpyToSymbol(factors, h, sizeof factors));
  SAYS(cudaSuccess, cudaMemcpyToSymbol(factors, h, 12, 4));
  SAYS(cudaSuccess, cudaMemcpyToSymbol(factors[1], h, 12));
  SAYS(cudaSuccess, cudaMemcpyToSymbol(static_cast<const void*>(factors), h, 16));
  add<<<1, 8>>>();
  SAYS(cudaSuccess, cudaMemcpyFromSymbol(h, sums, sizeof sums));
  SAYS(cudaSuccess, cudaMemcpyFromSymbol(h, sums, 4, 28));
#ifdef FIXED
  return 0;
#else
  SAYS(cudaErrorInvalidValue, cudaMemcpyToSymbol(factors, h, 32));
  SAYS(cudaErrorInvalidValue, cudaMemcpyToSymbol(factors, h, 16, 4));
  SAYS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(h, sums, 64));
  SAYS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(pointer, h, 4));
  SAYS(cudaErrorInvalidValue, cudaMemcpyToSymbol(sums, nullptr, 4));
  return 0;
#endif
}
