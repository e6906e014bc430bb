// expect: race at 15
// launch: k<<<1, 64>>>(out: f32[1])
// Threads add to a sum under a lock. Without fences the lock orders no memory.
__global__ void k(float* out) {
  __shared__ int lock;
  __shared__ float sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 7) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
#ifdef FIXED
    __threadfence_block();
#endif
    sum += 1;
#ifdef FIXED
    __threadfence_block();
#endif
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
