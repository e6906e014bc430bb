// unknown: uses device 7 at other_device.cu:13
// A program for several devices: the runtime returns CUDA's error, and nothing is said of the
// rest.
#include <cstdio>
#include <cstdlib>

__global__ void k(int* out) { *out = 1; }

int main() {
#ifdef FIXED
  const cudaError_t selected = cudaSetDevice(0);
#else
  const cudaError_t selected = cudaSetDevice(7);
  if (selected != cudaErrorInvalidDevice || cudaGetLastError() != selected ||
      cudaGetLastError() != cudaSuccess)
    std::abort();
#endif
  int* out = nullptr;
  cudaMalloc(&out, sizeof *out);
  k<<<1, 1>>>(out);
  cudaFree(out);
  return selected == cudaSuccess ? 0 : 1;
}
