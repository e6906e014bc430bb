// expect: runtime-misuse at 11
// The program continues with less, or with nothing: the call that failed is told either way. Only
// cudaGetLastError says again that it failed.
int main() {
  float* x = nullptr;
#ifdef FIXED
  std::size_t bytes = 1 << 20;
#else
  std::size_t bytes = std::size_t{1} << 45;
#endif
  while (cudaMalloc(&x, bytes) != cudaSuccess) bytes /= 1 << 20;
  cudaFree(x);
  const bool has_waited = cudaDeviceSynchronize() == cudaSuccess;
#ifdef FIXED
  return has_waited && cudaGetLastError() == cudaSuccess ? 0 : 1;
#else
  return has_waited && cudaGetLastError() == cudaErrorMemoryAllocation ? 0 : 1;
#endif
}
