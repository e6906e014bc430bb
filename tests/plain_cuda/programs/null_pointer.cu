// expect: out-of-bounds at 3
// An allocation was forgotten.
__global__ void k(float* out) { out[threadIdx.x] = 1; }
int main() {
  float* out = nullptr;
#ifdef FIXED
  cudaMalloc(&out, 32 * sizeof(float));
#endif
  k<<<1, 32>>>(out);
  cudaFree(out);
}
