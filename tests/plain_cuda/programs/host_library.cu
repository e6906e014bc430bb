// The standard library on the host, its atomic operations in kernels, and headers of libraries that
// are not called.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <atomic>
#include <memory>
#include <thread>

// Names that cuBLAS brings, and one that C++20 has and CUDA does not.
using Narrow = std::conditional_t<sizeof(__nv_bfloat16) == 2, __nv_bfloat16, half>;
__device__ float lerp(float a, float b, float t) {
  return a + t * (b - a) + static_cast<float>(Narrow(1.0f));
}

__device__ __noinline__ int twice(int x) { return 2 * x; }

__global__ void count(int* sum, std::atomic<unsigned>* most, int* out) {
  __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
  most->fetch_or(1u << threadIdx.x % 32);
  out[threadIdx.x] = twice(static_cast<int>(threadIdx.x + lerp(-2, 0, 0.5f)));
}

int main() {
  std::atomic<long> started{0};
  std::atomic<unsigned char> small{7};
  std::thread other([&] { ++started; });
  other.join();
  long one = 1;
  if (!started.compare_exchange_strong(one, 5) || started.load() != 5) return 1;
  if (started.compare_exchange_strong(one, 6) || one != 5) return 2;
  if (small.exchange(9) != 7 || small.fetch_xor(1) != 9 || small != 8) return 3;
  std::atomic_thread_fence(std::memory_order_seq_cst);

  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
      cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS)
    return 4;

  const auto host = std::make_shared<int[]>(64);
  int *sum, *out, total;
  std::atomic<unsigned>* most;
  unsigned bits;
  cudaMalloc(&sum, sizeof *sum);
  cudaMalloc(&most, sizeof *most);
  cudaMalloc(&out, 64 * sizeof *out);
  cudaMemset(sum, 0, sizeof *sum);
  cudaMemset(most, 0, sizeof *most);
  count<<<1, 64>>>(sum, most, out);
  cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  cudaMemcpy(&bits, most, sizeof bits, cudaMemcpyDeviceToHost);
  cudaMemcpy(host.get(), out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(sum);
  cudaFree(most);
  cudaFree(out);
  return total == 64 && bits == ~0u && host[63] == 126 ? 0 : 5;
}
