// expect: out-of-bounds at 8, out-of-bounds at 9
// What functions of the headers read by address is found at the line that calls them.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void add(const __nv_bfloat16* x, const float* y, float* sums) {
  const int i = threadIdx.x;
  float sum = static_cast<float>(x[i]);
  sum += __ldg(&y[i]);
  sums[i] = sum;
}

int main() {
#ifdef FIXED
  constexpr int kCount = 32;
#else
  constexpr int kCount = 31;
#endif
  __nv_bfloat16* x;
  float *y, *sums;
  cudaMalloc(&x, kCount * sizeof *x);
  cudaMalloc(&y, kCount * sizeof *y);
  cudaMalloc(&sums, 32 * sizeof *sums);
  cudaMemset(x, 0, kCount * sizeof *x);
  cudaMemset(y, 0, kCount * sizeof *y);
  add<<<1, 32>>>(x, y, sums);
  cudaFree(x);
  cudaFree(y);
  cudaFree(sums);
  return 0;
}
