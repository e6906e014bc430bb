// Memory that host and kernels share: both write it and read it, and none of it counts as
// unwritten.
#include <algorithm>
__global__ void square(float* x, const float* factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * x[i] * *factor;
}
int main() {
  const int n = 100;
  float *x, *factor;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocHost(&factor, sizeof(float));
  std::fill(x, x + n, 3.0f);
  *factor = 2;
  square<<<1, 128>>>(x, factor, n);
  cudaDeviceSynchronize();
  const bool is_right = std::all_of(x, x + n, [](float each) { return each == 18; });
  cudaFree(x);
  cudaFreeHost(factor);
  return is_right ? 0 : 1;
}
