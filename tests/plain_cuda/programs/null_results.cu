// expect: runtime-misuse at 6, runtime-misuse at 7, runtime-misuse at 8, runtime-misuse at 9, runtime-misuse at 10, runtime-misuse at 11, runtime-misuse at 12, runtime-misuse at 14, runtime-misuse at 15, runtime-misuse at 16, runtime-misuse at 17, runtime-misuse at 18
// Calls whose result goes to a null pointer return CUDA's error.
__global__ void k() {}
int main() {
#ifndef FIXED
  if (float* p; cudaMallocPitch(&p, nullptr, 4, 4) != cudaErrorInvalidValue) return 1;
  if (cudaGetDeviceProperties(nullptr, 0) != cudaErrorInvalidValue) return 2;
  if (cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0) != cudaErrorInvalidValue) return 3;
  if (std::size_t n; cudaMemGetInfo(&n, nullptr) != cudaErrorInvalidValue) return 4;
  if (cudaPointerGetAttributes(nullptr, nullptr) != cudaErrorInvalidValue) return 5;
  if (cudaRuntimeGetVersion(nullptr) != cudaErrorInvalidValue) return 6;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, k, 32, 0) != cudaErrorInvalidValue)
    return 7;
  if (cudaFuncGetAttributes(nullptr, k) != cudaErrorInvalidValue) return 8;
  if (cudaMalloc3D(nullptr, {4, 4, 4}) != cudaErrorInvalidValue) return 9;
  if (cudaStreamIsCapturing(0, nullptr) != cudaErrorInvalidValue) return 10;
  if (cudaDeviceGetLimit(nullptr, cudaLimitMallocHeapSize) != cudaErrorInvalidValue) return 11;
  if (cudaDeviceGetDefaultMemPool(nullptr, 0) != cudaErrorInvalidValue) return 12;
#endif
  int version = 0;
  if (void* memory; cudaMalloc(&memory, 4) != cudaSuccess || cudaFree(memory) != cudaSuccess)
    return 13;
  return cudaRuntimeGetVersion(&version);
}
