// expect: uninitialized-read at 9, uninitialized-read at 12
__global__ void count(const int* x, unsigned* bins, unsigned* total, int* last) {
  __shared__ int s[4];
  const int i = threadIdx.x;
#ifdef FIXED
  if (i < 4) s[i] = 0;
  __syncthreads();
#endif
  atomicAdd(&s[x[i] % 4], 1);
  __syncthreads();
  atomicExch(last, i);
  if (i < 4) atomicMax(&bins[i], s[i]);
  atomicAdd(total, 1u);
}

int main() {
  int host[64], *x, *last;
  for (int i = 0; i < 64; ++i) host[i] = i;
  unsigned *bins, *total;
  cudaMalloc(&x, sizeof host), cudaMalloc(&last, sizeof *last);
  cudaMalloc(&bins, 4 * sizeof *bins), cudaMalloc(&total, sizeof *total);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof *total);
#ifdef FIXED
  cudaMemset(bins, 0, 4 * sizeof *bins);
#endif
  count<<<3, 64>>>(x, bins, total, last);
  cudaFree(x), cudaFree(bins), cudaFree(total), cudaFree(last);
}
