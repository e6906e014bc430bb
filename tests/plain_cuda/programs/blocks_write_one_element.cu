// expect: race at 7
__global__ void total(const int* in, int* out) {
#ifdef FIXED
  atomicAdd(out, in[blockIdx.x]);
#else
  const int old = in[blockIdx.x];
  *out = old;
#endif
}
int main() {
  int in[4] = {1, 2, 3, 4}, *device, *out, sum = 0;
  cudaMalloc(&device, sizeof in);
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice);
  total<<<4, 1>>>(device, out);
  cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(device), cudaFree(out);
#ifdef FIXED
  return sum != 10;
#endif
}
