// expect: race at 5
// A kernel writes what another thread of it reads as a texture.
#include <cstdio>
__global__ void k(cudaTextureObject_t t, float* x, float* out) {
  x[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x ^ 1);
}

int main() {
  float *x = nullptr, *out = nullptr;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  const cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
#ifdef FIXED
  k<<<1, 32>>>(texture, out, out);
#else
  k<<<1, 32>>>(texture, x, out);
#endif
  cudaDestroyTextureObject(texture);
  cudaFree(x);
  cudaFree(out);
}
