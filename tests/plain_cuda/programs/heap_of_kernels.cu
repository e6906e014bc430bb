// expect: out-of-bounds at 10, out-of-bounds at 10, freed-memory at 13
#include <cstdlib>
__global__ void lists(int* out) {
  int* const squares = new int[4];
  int* const sums = static_cast<int*>(malloc(4 * sizeof(int)));
  if (squares == nullptr || sums == nullptr) return;
  sums[0] = 0;
  for (int i = 0; i < 4; ++i) squares[i] = i * i;
#ifndef FIXED
  for (int i = 0; i <= 4; ++i) sums[i] = squares[i];
  if (threadIdx.x < 16) {
    delete[] squares;
    out[threadIdx.x] = squares[threadIdx.x % 4];
    return;
  }
#endif
  for (int i = 1; i < 4; ++i) sums[i] = sums[i - 1] + squares[i];
  out[threadIdx.x] = sums[3];
  delete[] squares;
  free(sums);
}
int main() {
  int *out, host[32];
  cudaMalloc(&out, 128);
  lists<<<1, 32>>>(out);
  cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
  cudaFree(out);
#ifdef FIXED
  return host[31] != 14;
#endif
}
