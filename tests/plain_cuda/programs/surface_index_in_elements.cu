// expect: out-of-bounds at 11, out-of-bounds at 12
// x of a surface counts bytes; a row too many.
#include <cstdio>
__global__ void k(cudaSurfaceObject_t s, int rows) {
  const int x = threadIdx.x;
#ifdef FIXED
  surf2Dwrite(1.0f, s, x * 4, 0);
  if (x < rows) surf2Dwrite(1.0f, s, 0, x);
  if (x == 7) surf2Dwrite(1.0f, s, 100 * 4, -3, cudaBoundaryModeClamp);
#else
  surf2Dwrite(1.0f, s, x, 0);
  if (x <= rows) surf2Dwrite(1.0f, s, 0, x);
#endif
}

int main() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 8, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  k<<<1, 8>>>(surface, 4);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
}
