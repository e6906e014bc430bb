// expect: race at 26
// Atomic loads change nothing: plain reads beside them are no race. A flag of one byte, whose
// release orders what it hands over.
#include <cstdio>
#include <cuda/atomic>

using Flag = cuda::atomic<bool, cuda::thread_scope_device>;
__device__ Flag ready;

__global__ void look(const int* data, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const cuda::atomic_ref<const int, cuda::thread_scope_device> seen(*data);
  if (i % 3 == 0) out[i] = *data;
  if (i % 3 == 1) out[i] = seen.load(cuda::memory_order_relaxed);
  if (i % 3 == 2) out[i] = __nv_atomic_load_n(data, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void hand_over(int* x, int* out) {
#ifdef FIXED
  constexpr auto order = cuda::memory_order_release;
#else
  constexpr auto order = cuda::memory_order_relaxed;
#endif
  if (blockIdx.x == 1) {
    if (threadIdx.x > 0) return;
    *x = 7;
    ready.store(true, order);
  } else {
    while (!ready.load(cuda::memory_order_acquire)) {
    }
    out[threadIdx.x] = *x;
  }
}

int main() {
  int host[64] = {5}, *data, *out, wrong = 0;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  look<<<2, 32>>>(data, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (const int each : host) wrong += each != 5;
  hand_over<<<2, 32>>>(data, out);
  cudaMemcpy(host, out, sizeof(int) * 32, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) wrong += host[i] != 7;
  cudaFree(data);
  cudaFree(out);
  if (wrong != 0) std::printf("%d wrong\n", wrong);
  return wrong;
}
