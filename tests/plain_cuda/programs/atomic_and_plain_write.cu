// expect: race at 8
// launch: k<<<2, 1>>>(sum: f32[1] = zeros)
// One block adds atomically to what another one writes plainly.
__global__ void k(float* sum) {
#ifdef FIXED
  atomicAdd(sum, 1.0f);
#else
  if (blockIdx.x == 1) *sum = 1;
  else atomicAdd(sum, 1.0f);
#endif
}
