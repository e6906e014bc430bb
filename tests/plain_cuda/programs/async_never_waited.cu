// expect: async-never-waited at 8
// launch: k<<<1, 32>>>(in: f32[32], out: f32[32])
// The kernel ends while its asynchronous copies may still write.
#include <cuda_pipeline.h>
__global__ void k(const float* in, float* out) {
  __shared__ float tile[32];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], in + i, sizeof(float));
  __pipeline_commit();
#ifdef FIXED
  __pipeline_wait_prior(0);
#endif
  out[i] = in[i];
}
