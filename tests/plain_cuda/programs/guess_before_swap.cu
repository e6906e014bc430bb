// expect: race at 18
// A plain read that a compare-and-swap of the same thread tests is a guess, as in the atomicAdd() of
// CUDA's guide; before another update it is a race.
__device__ void add(double* address, double value) {
  auto* word = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}

__global__ void sum(double* total, int* count) {
  add(total, 1.0);
#ifdef FIXED
  atomicAdd(count, 1);
#else
  if (*count < 1000) atomicAdd(count, 1);
#endif
}

int main() {
  double *total, host;
  int* count;
  cudaMalloc(&total, sizeof *total);
  cudaMalloc(&count, sizeof *count);
  cudaMemset(total, 0, sizeof *total);
  cudaMemset(count, 0, sizeof *count);
  sum<<<4, 64>>>(total, count);
  cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(total);
  cudaFree(count);
  return host == 256 ? 0 : 1;
}
