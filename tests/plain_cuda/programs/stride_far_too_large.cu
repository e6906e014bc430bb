// expect: out-of-bounds at 5, out-of-bounds at 6
__global__ void spread(float* a, int* b) {
  const int i = threadIdx.x;
#ifndef FIXED
  if (i % 2 == 0) a[i * 1000000] = 1;
  else b[i] = b[i * 1000000];
#else
  a[i] = 1;
  b[i] = 0;
#endif
}
int main() {
  float* a;
  int* b;
  cudaMalloc(&a, 128);
  cudaMalloc(&b, 128);
  spread<<<1, 32>>>(a, b);
  cudaFree(a);
  cudaFree(b);
}
