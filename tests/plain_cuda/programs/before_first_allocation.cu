// expect: out-of-bounds at 6
__global__ void differences(const float* a, float* b, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
#ifndef FIXED
  b[i] = a[i] - a[i - 1];
#else
  b[i] = i == 0 ? a[i] : a[i] - a[i - 1];
#endif
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 400);
  cudaMalloc(&b, 400);
  cudaMemset(a, 0, 400);
  differences<<<1, 128>>>(a, b, 100);
  cudaFree(a);
  cudaFree(b);
}
