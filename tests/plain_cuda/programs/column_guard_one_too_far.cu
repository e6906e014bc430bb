// expect: race at 10
// The guard lets one column too many through: it is the first of the next row.
__global__ void k(float* out, int rows, int columns) {
  const int x = threadIdx.x, y = threadIdx.y;
#ifdef FIXED
  if (y < rows && x < columns)
#else
  if (y < rows && x <= columns)
#endif
    out[y * columns + x] = x;
}
int main() {
  float* out;
  cudaMalloc(&out, 65 * sizeof(float));
  k<<<1, dim3(16, 8)>>>(out, 8, 8);
  cudaFree(out);
}
