// expect: out-of-bounds at 9
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  if (i < n)
#else
  if (i <= n)
#endif
    x[i] = 2;
}
int main() {
  float* x;
  cudaMalloc(&x, 1000 * sizeof(float));
  cudaMemset(x, 0, 1000 * sizeof(float));
  scale<<<4, 256>>>(x, 1000);
  cudaFree(x);
}
