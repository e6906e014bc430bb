// expect: race at 9, race at 13
// A plain store of a flag that another block waits for by atomic loads: nothing orders the two, nor
// what the flag is to hand over.
#include <cuda/atomic>

__global__ void pass(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> shared_flag(*flag);
  if (blockIdx.x == 0) {
    *data = 7;
#ifdef FIXED
    shared_flag.store(1, cuda::std::memory_order_release);
#else
    *flag = 1;
#endif
  } else {
    while (shared_flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

int main() {
  int *x, host = 0;
  cudaMalloc(&x, 3 * sizeof(int));
  cudaMemset(x, 0, 3 * sizeof(int));
  pass<<<2, 1>>>(x, x + 1, x + 2);
  cudaMemcpy(&host, x + 2, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host == 7 ? 0 : 1;
}
