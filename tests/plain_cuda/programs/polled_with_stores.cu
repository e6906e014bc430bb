// Threads that poll their predecessors' results by volatile reads and keep what they find in shared
// memory between the rounds.
__global__ void chain(volatile int* done, volatile int* sum, int n) {
  __shared__ int seen[32 * 4];
  const int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
  int missing;
  do {
    missing = 0;
    for (int k = 1; k <= 4; ++k) {
      const int at = i - k;
      seen[32 * (k - 1) + threadIdx.x] = at < 0 ? 1 : done[at];
      if (((volatile int*)seen)[32 * (k - 1) + threadIdx.x] == 0) ++missing;
    }
  } while (missing > 0);
  sum[i] = i;
  __threadfence();
  done[i] = 1;
}
int main() {
  const int n = 8 * 32;
  int *done, *sum, host[n];
  cudaMalloc(&done, n * sizeof(int));
  cudaMalloc(&sum, n * sizeof(int));
  cudaMemset(done, 0, n * sizeof(int));
  chain<<<8, 32>>>(done, sum, n);
  cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(done);
  cudaFree(sum);
  for (int i = 0; i < n; ++i)
    if (host[i] != i) return 1;
  return 0;
}
