// expect: uninitialized-read at 16
#include <vector>
__global__ void fill(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
int main() {
  const int n = 1000;
  int* x;
  cudaMalloc(&x, n * sizeof(int));
#ifdef FIXED
  fill<<<(n + 255) / 256, 256>>>(x, n);
#else
  fill<<<n / 256, 256>>>(x, n);
  std::vector<int> early(n);
  cudaMemcpy(early.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost);
#endif
  cudaFree(x);
}
