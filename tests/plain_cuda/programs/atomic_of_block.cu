// expect: race at 12, race at 13, race at 14, race at 18
// launch: k<<<4, 32>>>(x: i32[4] = zeros)
// Atomic functions whose scope is the block, on elements that several blocks update.
#include <cuda/atomic>
#ifdef FIXED
constexpr auto kScope = cuda::thread_scope_device;
#define atomicAdd_block atomicAdd
#else
constexpr auto kScope = cuda::thread_scope_block;
#endif
__global__ void k(int* x) {
  atomicAdd_block(x, 1);
  cuda::atomic_ref<int, kScope>(x[1]).fetch_add(1, cuda::memory_order_relaxed);
  __nv_atomic_fetch_add(
      x + 2, 1, __NV_ATOMIC_RELAXED,
      kScope == cuda::thread_scope_block ? __NV_THREAD_SCOPE_BLOCK : __NV_THREAD_SCOPE_DEVICE);
#ifndef FIXED
  asm volatile("red.relaxed.cta.global.add.s32 [%0], 1;" ::"l"(x + 3) : "memory");
#else
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(x + 3) : "memory");
#endif
}
