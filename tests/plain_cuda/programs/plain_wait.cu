// expect: race at 12
// launch: k<<<1, 64>>>(out: i32[64], flag: i32[1] = zeros)
// A thread waits for a plain read to change, which the device need not read again.
#include <cuda/atomic>
__global__ void k(int* out, int* flag) {
#ifdef FIXED
  cuda::atomic_ref<int, cuda::thread_scope_block> shared(*flag);
  if (threadIdx.x == 40) shared.store(1);
  if (threadIdx.x == 0)
    while (shared.load() == 0) __nanosleep(8);
#else
  if (threadIdx.x == 40) *flag = 1;
  if (threadIdx.x == 0)
    while (*flag == 0) __nanosleep(8);
#endif
  out[threadIdx.x] = 1;
}
