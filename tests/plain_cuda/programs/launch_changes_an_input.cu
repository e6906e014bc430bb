// expect: program-failed at 0
// launch: twice<<<1, 32>>>(x: i32[32], y: i32[32])
__global__ void twice(const int* x, int* y) {
  const int i = threadIdx.x;
  y[i] = 2 * x[i];
#ifndef FIXED
  const_cast<int*>(x)[i] = y[i] + 1;
#endif
}
