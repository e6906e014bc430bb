// expect: out-of-bounds at 4, crash at 15
__global__ void k(int* out) {
#ifndef FIXED
  out[threadIdx.x + 1] = 1;
#else
  out[threadIdx.x] = 1;
#endif
}
int main() {
  int* out;
  volatile int* volatile host = nullptr;
  cudaMalloc(&out, 128);
  k<<<1, 32>>>(out);
#ifndef FIXED
  *host = 1;
#endif
  cudaFree(out);
}
