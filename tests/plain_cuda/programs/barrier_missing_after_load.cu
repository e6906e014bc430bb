// expect: race at 9
__global__ void reverse(const int* in, int* out) {
  __shared__ int s[128];
  const int i = threadIdx.x;
#ifdef FIXED
  s[i] = in[i];
  __syncthreads();
#else
  s[i] = in[i];
#endif
  out[i] = s[127 - i];
}
int main() {
  int *in, *out;
  cudaMalloc(&in, 128 * sizeof(int));
  cudaMalloc(&out, 128 * sizeof(int));
  cudaMemset(in, 0, 128 * sizeof(int));
  reverse<<<1, 128>>>(in, out);
  cudaFree(in), cudaFree(out);
}
