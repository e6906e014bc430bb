// expect: race at 17
// launch: k<<<6, 64>>>(work: u32[1] = zeros, done: u32[1] = zeros)
// The last block's update of `done` orders its store there, and nothing else: without a fence after
// the update those of `work` are not ordered.
__global__ void k(unsigned* work, unsigned* done) {
  if (threadIdx.x == 32) atomicAdd(work, 1);
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(done, 1) != gridDim.x - 1) return;
#ifdef FIXED
  __threadfence();
  *done = 0;
  *work = 0;
#else
  *done = 0;
  *work = 0;
#endif
}
