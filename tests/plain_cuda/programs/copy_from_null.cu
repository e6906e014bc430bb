// expect: runtime-misuse at 11
// A copy from a host pointer that was never given memory.
#include <cstdlib>

int main() {
  float *host = nullptr, *out = nullptr;
  cudaMalloc(&out, 16);
#ifdef FIXED
  host = static_cast<float*>(std::calloc(4, 4));
#endif
  cudaMemcpy(out, host, 16, cudaMemcpyHostToDevice);
  std::free(host);
  cudaFree(out);
}
