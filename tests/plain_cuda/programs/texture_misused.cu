// expect: runtime-misuse at 12, runtime-misuse at 15, runtime-misuse at 41, runtime-misuse at 50, runtime-misuse at 18, runtime-misuse at 57, freed-memory at 8
// A type that the texture does not have, a function of other dimensions, a texture that was
// destroyed, memory that was freed; too many bytes, linear filtering of integers, a surface without
// its flag.
#include <cstdio>

__global__ void freed(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}

__global__ void type(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = static_cast<int>(tex1Dfetch<float>(t, threadIdx.x));
}
__global__ void dimensions(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex2D<int>(t, threadIdx.x, 0);
}
__global__ void destroyed(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}

int main() {
  int *memory = nullptr, *out = nullptr;
  cudaMalloc(&memory, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(memory, 0, 32 * sizeof(int));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, cudaCreateChannelDesc<int>(), 32 * sizeof(int)};
  cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
#ifdef FIXED
  freed<<<1, 32>>>(texture, out);
  cudaDestroyTextureObject(texture);
  cudaFree(memory);
#else
  type<<<1, 32>>>(texture, out);
  dimensions<<<1, 32>>>(texture, out);
  resource.res.linear.sizeInBytes = 64 * sizeof(int);
  cudaTextureObject_t larger = 0;
  cudaCreateTextureObject(&larger, &resource, &how, nullptr);
  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 8, 8);
  cudaResourceDesc of_array = {};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t smooth = 0;
  cudaCreateTextureObject(&smooth, &of_array, &how, nullptr);
  cudaDestroyTextureObject(texture);
  destroyed<<<1, 32>>>(texture, out);
  how.filterMode = cudaFilterModePoint;
  resource.res.linear.sizeInBytes = 32 * sizeof(int);
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &of_array);
  cudaFree(memory);
  freed<<<1, 32>>>(texture, out);
  cudaFreeArray(array);
#endif
  cudaFree(out);
}
