// expect: uninitialized-read at 13
__global__ void histogram(const unsigned char* in, int* out) {
  __shared__ int count[256];
  const int i = threadIdx.x;
#ifdef FIXED
  count[i] = 0;
#else
  if (i < 128) count[i] = 0;
#endif
  __syncthreads();
  atomicAdd(&count[in[i]], 1);
  __syncthreads();
  out[i] = count[i];
}
int main() {
  unsigned char* in;
  int* out;
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 3, 256);
  histogram<<<1, 256>>>(in, out);
  cudaFree(in), cudaFree(out);
}
