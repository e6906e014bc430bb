// expect: runtime-misuse at 14, runtime-misuse at 15, runtime-misuse at 16
#include <cstdlib>
#include <vector>
int table[10];
int main() {
#ifdef FIXED
  constexpr int kElements = 10;
#else
  constexpr int kElements = 100;
#endif
  int *device, *heap = static_cast<int*>(malloc(10 * sizeof(int)));
  std::vector<int> vector(10);
  cudaMalloc(&device, 400), cudaMemset(device, 0, 400);
  cudaMemcpy(vector.data(), device, kElements * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(heap, device, kElements * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(device, table, kElements * sizeof(int), cudaMemcpyHostToDevice);
  free(heap);
  cudaFree(device);
}
