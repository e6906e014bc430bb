// expect: runtime-misuse at 7
int main() {
  int* x;
  cudaMalloc(&x, sizeof(int));
#ifndef FIXED
  cudaFree(x);
  cudaFree(x);
#else
  cudaFree(x);
#endif
}
