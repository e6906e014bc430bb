// expect: race at 13
// A stream that does not wait for the default stream.
__global__ void fill(int* x) { x[threadIdx.x] = 7; }

int main() {
  int *x, host[32];
  cudaMalloc(&x, sizeof host);
  cudaStream_t stream;
#ifndef FIXED
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemsetAsync(x, 0, sizeof host);
  // the fill may come before the memset
  fill<<<1, 32, 0, stream>>>(x);
#else
  cudaStreamCreate(&stream);
  cudaMemsetAsync(x, 0, sizeof host);
  fill<<<1, 32, 0, stream>>>(x);
#endif
  cudaStreamSynchronize(stream);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(stream);
  cudaFree(x);
  return host[31] == 7 ? 0 : 1;
}
