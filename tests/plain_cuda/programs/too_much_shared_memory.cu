// expect: impossible-launch at 14
// More shared memory than any device gives to one block.
__global__ void k(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}
int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
#ifdef FIXED
  k<<<1, 64, 256>>>(out);
#else
  k<<<1, 64, 256 << 10>>>(out);
#endif
  cudaFree(out);
}
