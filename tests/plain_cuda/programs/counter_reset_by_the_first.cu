// expect: race at 11
// launch: k<<<6, 64>>>(work: u32[1] = zeros, done: u32[1] = zeros)
// The store of `work` races with the updates of all blocks that come after its own. The finding is
// the same in every run, whichever block has the store: its place is that of the later line.
__global__ void k(unsigned* work, unsigned* done) {
  atomicAdd(work, 1);
  __threadfence();
  __syncthreads();
#ifndef FIXED
  if (threadIdx.x == 0) atomicAdd(done, 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) *work = 0;
#else
  if (threadIdx.x == 0 && atomicAdd(done, 1) == gridDim.x - 1) {
    __threadfence();
    *work = 0;
  }
#endif
}
