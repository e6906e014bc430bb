// expect: race at 29
// A plain read that a compare-and-swap of the same thread tests is a guess, as in the atomicAdd()
// of CUDA's guide; before another update it is a race.
#include <cuda_bf16.h>

__device__ void add(double* address, double value) {
  auto* word = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}

// Arithmetic between the guess and its test reads no memory.
__device__ void add(__nv_bfloat162* address) {
  const __nv_bfloat162 old = __ldcg(address);
  const __nv_bfloat162 next = old + __halves2bfloat162(1.0f, 1.0f);
  atomicCAS(reinterpret_cast<unsigned*>(address), *reinterpret_cast<const unsigned*>(&old),
            *reinterpret_cast<const unsigned*>(&next));
}

__global__ void sum(double* total, __nv_bfloat162* pair, int* count) {
  add(total, 1.0);
  add(pair);
#ifdef FIXED
  atomicAdd(count, 1);
#else
  if (*count < 1000) atomicAdd(count, 1);
#endif
}

int main() {
  double *total, host;
  __nv_bfloat162* pair;
  int* count;
  cudaMalloc(&total, sizeof *total);
  cudaMalloc(&pair, sizeof *pair);
  cudaMalloc(&count, sizeof *count);
  cudaMemset(total, 0, sizeof *total);
  cudaMemset(pair, 0, sizeof *pair);
  cudaMemset(count, 0, sizeof *count);
  sum<<<4, 64>>>(total, pair, count);
  cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(total);
  cudaFree(pair);
  cudaFree(count);
  return host == 256 ? 0 : 1;
}
