// expect: uninitialized-read at 6
// Half of the array is copied; the kernel reads all of it.
#include <cstdio>

__global__ void k(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 1.5f);
}

int main() {
  const float values[2][8] = {};
#ifdef FIXED
  const int rows = 2;
#else
  const int rows = 1;
#endif
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  float* out = nullptr;
  cudaMallocArray(&array, &format, 8, 2);
  cudaMalloc(&out, 8 * sizeof(float));
  cudaMemcpy2DToArray(array, 0, 0, values, sizeof values[0], sizeof values[0], rows,
                      cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  k<<<1, 8>>>(texture, out);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(out);
}
