// expect: race at 14
// launch: k<<<6, 64>>>(work: u32[1] = zeros)
// The first block takes longest until its update; the others' updates come after its own all the
// same, in every run.
__global__ void k(unsigned* work) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const long long begin = clock64();
    while (clock64() - begin < 100'000'000) {
    }
  }
  atomicAdd(work, 1);
  __threadfence();
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *work = 0;
}
