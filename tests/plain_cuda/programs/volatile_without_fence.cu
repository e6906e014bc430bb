// expect: race at 14
// launch: sum<<<8, 64>>>(in: f32[1000] = ones, part: f32[8], out: f32[1], 1000)
// The last block reads what the others have stored, and they do not fence before they count.
__device__ unsigned done = 0;
__global__ void sum(const float* in, volatile float* part, float* out, int n) {
  __shared__ float s[64];
  __shared__ bool is_last;
  float mine = 0;
  for (int i = 64 * blockIdx.x + threadIdx.x; i < n; i += 64 * gridDim.x) mine += in[i];
  s[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 64; ++i) s[0] += s[i];
    part[blockIdx.x] = s[0];
#ifdef FIXED
    __threadfence();
#endif
    is_last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 32) {
    float all = 0;
    for (int i = 0; i < gridDim.x; ++i) all += part[i];
    *out = all;
  }
}
