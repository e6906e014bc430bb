// expect: uninitialized-read at 4
__global__ void add(const float* a, float* b) {
  const int i = threadIdx.x;
  b[i] = a[i] + 1;
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 64 * sizeof(float));
  cudaMalloc(&b, 64 * sizeof(float));
#ifdef FIXED
  cudaMemset(a, 0, 64 * sizeof(float));
#else
  cudaMemset(a, 0, 60 * sizeof(float));
#endif
  add<<<1, 64>>>(a, b);
  cudaFree(a), cudaFree(b);
}
