// expect: out-of-bounds at 9
__global__ void shift(int* out) {
  extern __shared__ int s[];
  const int i = threadIdx.x;
  s[i] = i;
#ifdef FIXED
  s[i + 32] = 0;
#else
  s[i + 33] = 0;
#endif
  __syncthreads();
  out[i] = s[i];
}
int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  shift<<<1, 32, 64 * sizeof(int)>>>(out);
  cudaFree(out);
}
