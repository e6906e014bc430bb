// expect: out-of-bounds at 10
// The store is guarded by the wrong extents: rows are compared with columns.
__global__ void k(float* C, int m, int n) {
  const int row = threadIdx.y, column = threadIdx.x;
#ifdef FIXED
  if (row < m && column < n)
#else
  if (row < n && column < m)
#endif
    C[row * n + column] = 1;
}
int main() {
  float* C;
  cudaMalloc(&C, 5 * 12 * sizeof(float));
  k<<<1, dim3(16, 16)>>>(C, 5, 12);
  cudaFree(C);
}
