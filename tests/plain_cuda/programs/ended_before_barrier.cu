// expect: early-return at 8
// Threads leave a loop with a barrier after different rounds: those that have ended count as come.
__global__ void rounds(int* out) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x / 32; i < 4; ++i) {
    __syncthreads();
    atomicAdd(&most, 1);
  }
  out[threadIdx.x] = threadIdx.x;
}
int main() {
  int *out, host[128];
  cudaMalloc(&out, sizeof host);
  rounds<<<1, 128>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[127] == 127 ? 0 : 1;
}
