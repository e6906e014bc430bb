// expect: race at 5
__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  const int i = threadIdx.x;
  s[i] = in[i];
  for (int d = 16; d > 0; d /= 2) {
#ifndef FIXED
    if (i < d) s[i] += s[i + d];
#else
    __syncwarp();
    const int other = i < d ? s[i + d] : 0;
    __syncwarp();
    s[i] += other;
#endif
  }
  __syncwarp();
  if (i == 0) *out = s[0];
}
int main() {
  int in[32], *device, *out, total = 0;
  for (int i = 0; i < 32; ++i) in[i] = i;
  cudaMalloc(&device, sizeof in);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(device, out);
  cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost);
  cudaFree(device), cudaFree(out);
#ifdef FIXED
  return total != 496;
#endif
}
