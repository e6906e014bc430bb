// The counter of NVIDIA's threadFenceReduction: the last block adds the parts up and resets the
// counter by a plain store, which no update before it can overwrite. The second launch needs that.
#include <cstdio>

__global__ void reduce(const float* in, volatile float* parts, unsigned* count, float* total) {
  __shared__ bool is_last;
  __shared__ float sums[64];
  sums[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += sums[i];
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
    *total = sum;
    *count = 0;
  }
}

int main() {
  float *in, *parts, *total, sum = 0, ones[256];
  unsigned* count;
  for (float& each : ones) each = 1;
  cudaMalloc(&in, sizeof ones);
  cudaMalloc(&parts, 4 * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMalloc(&count, sizeof(unsigned));
  cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(unsigned));
  cudaMemset(total, 0, sizeof(float));
  for (int i = 0; i < 2; ++i) reduce<<<4, 64>>>(in, parts, count, total);
  cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(in), cudaFree(parts), cudaFree(total), cudaFree(count);
  if (sum != 256) std::printf("sum %f\n", sum);
  return sum == 256 ? 0 : 1;
}
