// expect: race at 7
// launch: k<<<4, 1>>>(sum: f32[1] = zeros)
// A block's plain store meets another one's atomic update.
__global__ void k(float* sum) {
  atomicAdd(sum, 2.0f);
#ifndef FIXED
  *sum = 1;
#endif
}
