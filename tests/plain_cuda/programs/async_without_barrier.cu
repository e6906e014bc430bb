// expect: race at 8
// launch: k<<<1, 64>>>(in: f32[64], out: f32[64])
// Each thread waits for its own copies only: without a barrier those of the others may be missing.
#include <cuda_pipeline.h>
__global__ void k(const float* in, float* out) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], in + i, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
#ifdef FIXED
  __syncthreads();
#endif
  out[i] = tile[63 - i];
}
