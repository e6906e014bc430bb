// expect: out-of-bounds at 8, out-of-bounds at 10
__global__ void shift(int* out) {
#ifdef FIXED
  __shared__ int first[33], second[33];
#else
  __shared__ int first[32], second[32];
#endif
  first[threadIdx.x + 1] = threadIdx.x;
  __syncthreads();
  second[threadIdx.x + 1] = first[threadIdx.x ? threadIdx.x : 1];
  __syncthreads();
  out[threadIdx.x] = second[threadIdx.x ? threadIdx.x : 1];
}
int main() {
  int* out;
  cudaMalloc(&out, 128);
  shift<<<1, 32>>>(out);
  cudaFree(out);
}
