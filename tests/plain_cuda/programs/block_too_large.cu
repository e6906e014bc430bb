// expect: impossible-launch at 9
__global__ void k(int* out) { out[threadIdx.x] = 1; }
int main() {
  int* out;
  cudaMalloc(&out, 2048 * sizeof(int));
#ifdef FIXED
  k<<<1, 1024>>>(out);
#else
  k<<<1, 2048>>>(out);
#endif
  cudaFree(out);
}
