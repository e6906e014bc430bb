// expect: freed-memory at 2
__global__ void k(int* out) { *out = 4; }
int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
#ifndef FIXED
  cudaFree(out);
#endif
  k<<<1, 1>>>(out);
#ifdef FIXED
  cudaFree(out);
#endif
}
