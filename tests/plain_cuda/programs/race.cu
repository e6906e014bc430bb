// expect: race at 5
__global__ void k(float* a) {
  __shared__ float s[64];
  int i = threadIdx.x;
  s[i] = i;
  a[i] = s[63 - i];
}
int main() {
  float* d;
  cudaMalloc(&d, 256);
  k<<<1, 64>>>(d);
  cudaFree(d);
}
