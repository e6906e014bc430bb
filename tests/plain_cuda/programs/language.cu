// Words of CUDA C++ that programs use: templates, overloads, device functions and variables,
// closures, constants, structs in shared memory, dynamic shared memory, launches in macros and
// branches, warp verbs, atomics, streams and events.
#include <cstdio>
#include <vector>
#define CHECK(call)                                   \
  do {                                                \
    const cudaError_t error = (call);                 \
    if (error != cudaSuccess) {                       \
      std::printf("%s\n", cudaGetErrorString(error)); \
      return 1;                                       \
    }                                                 \
  } while (0)
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 127) / 128, 128>>>(__VA_ARGS__)
__constant__ float factors[3];
__device__ int calls;
struct Pair {
  float sum;
  int count;
};
template <class T>
__device__ T twice(T x) {
  return x + x;
}
template <class T, int N>
__global__ void __launch_bounds__(128) scale(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = twice(x[i]) * N * static_cast<T>(factors[1]);
}
__global__ void count(int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x < n) atomicAdd(&calls, 1);
}
template <class F>
__global__ void apply(F f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
__global__ void average(const float* x, float* out, int n) {
  __shared__ Pair pairs[32];
  float sum = 0;
  int in = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i], ++in;
  for (int d = warpSize / 2; d > 0; d /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, d);
    in += __shfl_down_sync(0xffffffff, in, d);
  }
  if (threadIdx.x % warpSize == 0) pairs[threadIdx.x / warpSize] = {sum, in};
  __syncthreads();
  if (threadIdx.x != 0) return;
  Pair all = {};
  for (unsigned w = 0; w < blockDim.x / warpSize; ++w) {
    all.sum += pairs[w].sum;
    all.count += pairs[w].count;
  }
  *out = all.sum / all.count;
}
namespace inner {
__global__ static void reverse(float* x, int n) {
  extern __shared__ float s[];
  const int i = threadIdx.x;
  if (i < n) s[i] = x[i];
  __syncthreads();
  if (i < n) x[i] = s[n - 1 - i];
}
}  // namespace inner
int main() {
  const int n = 300;
  std::vector<float> x(n, 1.0f);
  float *d, *mean, value = 0, three[3] = {1, 2, 3};
  CHECK(cudaMalloc((void**)&d, n * sizeof(float)));
  CHECK(cudaMalloc(&mean, sizeof(float)));
  CHECK(cudaMemcpyToSymbol(factors, three, sizeof three));
  cudaStream_t stream;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin, stream));
  CHECK(cudaMemcpyAsync(d, x.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
  scale<float, 2><<<(n + 127) / 128, 128, 0, stream>>>(d, n);  // 1 -> 8
  CHECK(cudaGetLastError());
  LAUNCH(count, n, n);
  if (n > 1)
    LAUNCH(
        apply, n, [d] __device__(int i) { d[i] += i; }, n);
  inner::reverse<<<1, 320, n * sizeof(float)>>>(d, n);
  average<<<1, 128>>>(d, mean, n);
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaEventSynchronize(end));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(cudaMemcpy(x.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&value, mean, sizeof value, cudaMemcpyDeviceToHost));
  int counted = 0;
  CHECK(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
  CHECK(cudaFree(d));
  CHECK(cudaFree(mean));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(stream));
  for (int i = 0; i < n; ++i)
    if (x[i] != 8.0f + (n - 1 - i)) return 2;
  return counted != n || value != 8.0f + (n - 1) / 2.0f || milliseconds < 0;
}
