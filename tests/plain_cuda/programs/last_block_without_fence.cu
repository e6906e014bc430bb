// expect: race at 8
// launch: k<<<8, 64>>>(parts: f32[8], count: u32[1] = zeros, total: f32[1])
// Each block leaves a part and counts itself; the last one adds the parts up. Without a fence the
// atomic update orders nothing.
__global__ void k(float* parts, unsigned* count, float* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = 1;
#ifdef FIXED
    __threadfence();
#endif
    is_last = atomicAdd(count, 1) == gridDim.x - 1;
#ifdef FIXED
    __threadfence();
#endif
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 33) return;
  float sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
  *total = sum;
}
