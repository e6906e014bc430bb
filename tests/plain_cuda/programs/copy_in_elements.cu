// expect: runtime-misuse at 8
int main() {
  float host[100] = {}, *x;
  cudaMalloc(&x, 100);
#ifdef FIXED
  cudaMemcpy(x, host, 100, cudaMemcpyHostToDevice);
#else
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
#endif
  cudaFree(x);
}
