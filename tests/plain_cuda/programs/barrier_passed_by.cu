// expect: diverged-barrier at 10
// launch: k<<<1, 64>>>(x: i32[64] = zeros, 40)
// The threads of one side of a branch come to the end of the kernel, the others wait in it. A
// thread that returns before is another matter.
__global__ void k(int* x, int n) {
  const int t = threadIdx.x;
#ifndef FIXED
  if (t < n) {
    x[t] = t;
    __syncthreads();
    x[t] += n;
  }
#else
  if (t < n) x[t] = t;
  __syncthreads();
  if (t >= n) return;
  x[t] += t;
#endif
}
