// unknown: of kernel k was still running at the time limit of 2 s
// launch: k<<<1, 64>>>(out: i32[64] = zeros)
// flags: --time-limit 2
// A loop that never ends, and that touches nothing on the way.
__global__ void k(int* out) {
#ifndef FIXED
  volatile bool goes_on = true;
  while (goes_on) {
  }
#endif
  out[threadIdx.x] = 1;
}
