// expect: host-memory at 2
__global__ void k(const int* in, int* out) { *out = *in; }
int main() {
  int *host = new int(3), *in, *out;
  cudaMalloc(&in, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, host, sizeof(int), cudaMemcpyHostToDevice);
#ifdef FIXED
  k<<<1, 1>>>(in, out);
#else
  k<<<1, 1>>>(host, out);
#endif
  cudaFree(in), cudaFree(out);
  delete host;
}
