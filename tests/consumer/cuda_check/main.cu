#include <cstdlib>
#include <cstring>

__global__ void twice(float* x, int n);

static_assert(sizeof TEXT == 10);

int main(int count, char** words) {
  if (count != 3 || std::strcmp(words[2], "of 16, with 'quotes'") != 0) return 1;
  const int n = std::atoi(words[1]);
  float* x = nullptr;
  if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return 1;
  cudaMemset(x, 0, n * sizeof(float));
  twice<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, n);
  return cudaFree(x) == cudaSuccess ? 0 : 1;
}
