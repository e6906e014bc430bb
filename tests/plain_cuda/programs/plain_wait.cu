// expect: race at 16
// launch: k<<<1, 64>>>(out: i32[64])
// A thread waits for a plain read to change, which the device need not read again.
#include <cuda/atomic>
__global__ void k(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
#ifdef FIXED
  cuda::atomic_ref<int, cuda::thread_scope_block> shared(flag);
  if (threadIdx.x == 40) shared.store(1);
  if (threadIdx.x == 0)
    while (shared.load() == 0) {
    }
#else
  if (threadIdx.x == 40) *(volatile int*)&flag = 1;
  if (threadIdx.x == 0)
    while (*(volatile int*)&flag == 0) {
    }
#endif
  out[threadIdx.x] = 1;
}
