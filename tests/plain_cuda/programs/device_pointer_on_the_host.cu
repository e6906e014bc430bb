// expect: host-memory at 10
__global__ void k(int* out) { *out = 4; }
int main() {
  int *out, value = 0;
  cudaMalloc(&out, sizeof(int));
  k<<<1, 1>>>(out);
#ifdef FIXED
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
#else
  value = *out;
#endif
  cudaFree(out);
  return value != 4;
}
