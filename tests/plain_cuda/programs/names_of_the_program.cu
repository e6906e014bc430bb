// Variables of the program with the names of CUDA's, and CUDA's as whole values.
#include <algorithm>
#include <cstdio>

struct Shape {
  dim3 gridDim, blockDim;
  unsigned threads() const { return gridDim.x * blockDim.x; }
};

__device__ unsigned place(const uint3& at, dim3 extents) { return at.x + at.y * extents.x; }

__global__ void fill(unsigned* x, unsigned n) {
  const auto block = blockIdx;
  const dim3 grid = gridDim;
  const unsigned first = place(block, grid) * blockDim.x, i = first + place(threadIdx, blockDim);
  const unsigned last = std::min(n, grid.x * grid.y * blockDim.x * blockDim.y);
  if (i < last) x[i] = i + static_cast<unsigned>(sizeof(blockIdx)) - sizeof(uint3);
}

__device__ int own() { return static_cast<int>(threadIdx.x); }

template <int blockDim>
__global__ void add(unsigned* x, int n) {
  const int threadIdx = own();
  for (int i = threadIdx; i < n; i += std::max(blockDim, 1)) x[i] += 1;
}

int run(unsigned* x, unsigned n, dim3 gridDim) {
  dim3 blockDim(32);
  blockDim.x *= 2;
  fill<<<gridDim, blockDim>>>(x, n);
  const auto wide = [&](const dim3& gridDim) { fill<<<gridDim, blockDim>>>(x, n); };
  wide(gridDim);
  add<64><<<1, blockDim.x>>>(x, static_cast<int>(n));
  return static_cast<int>(gridDim.y + blockDim.y);
}

int main() {
  const unsigned n = 250;
  unsigned host[n], *x;
  cudaMalloc(&x, sizeof host);
  Shape shape{dim3(2, 2), dim3(64)};
  shape.gridDim.y = 2;
  int wrong = run(x, n, shape.gridDim) != 3 || shape.threads() != 128;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < n; ++i) wrong += host[i] != i + 1;
  cudaFree(x);
  if (wrong != 0) std::printf("%d wrong\n", wrong);
  return wrong;
}
