// expect: race at 6
// launch: k<<<2, 1>>>(data: i32[1], flag: i32[1] = zeros, out: i32[1])
// One block writes, fences and sets a flag; another one waits for it and reads without a fence.
__global__ void k(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 5;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
#ifdef FIXED
    __threadfence();
#endif
    *out = data[0];
  }
}
