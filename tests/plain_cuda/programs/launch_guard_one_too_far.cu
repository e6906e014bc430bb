// expect: out-of-bounds at 13
// launch: product<<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>(
//   A: f32[m,k], B: f32[k,n], C: f32[m,n], m, n, k)
#ifdef FIXED
#define ROWS k
#else
#define ROWS (n + 1)
#endif
__global__ void product(const float* A, const float* B, float* C, int m, int n, int k) {
  const int row = 8 * blockIdx.y + threadIdx.y, col = 8 * blockIdx.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < (k + 7) / 8 * 8; ++i)
    if (row < m && col < n && i < ROWS) sum += (i < k ? A[row * k + i] : 0) * B[i * n + col];
  if (row < m && col < n) C[row * n + col] = sum;
}
int main() { return 1; }
