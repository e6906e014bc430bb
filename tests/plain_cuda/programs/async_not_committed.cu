// expect: async-not-waited at 14
// launch: k<<<1, 64>>>(in: f32[64], out: f32[64])
// Copies that were not committed belong to no group: waiting for groups does not wait for them.
#include <cuda_pipeline.h>
__global__ void k(const float* in, float* out) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], in + i, sizeof(float));
#ifdef FIXED
  __pipeline_commit();
#endif
  __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = tile[63 - i];
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
