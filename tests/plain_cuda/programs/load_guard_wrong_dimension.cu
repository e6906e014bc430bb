// expect: out-of-bounds at 11
// launch: k<<<1, dim3(16, 8)>>>(A: f32[8,5], out: f32[8,16], 5, 9)
// The load of A (m,k) is guarded by n.
__global__ void k(const float* A, float* out, int k, int n) {
  const int x = threadIdx.x, y = threadIdx.y;
#ifdef FIXED
  const bool exists = x < k;
#else
  const bool exists = x < n;
#endif
  out[y * 16 + x] = exists ? A[y * k + x] : 0;
}
