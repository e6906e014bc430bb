#ifdef N
static_assert(N == 40 && BLOCK == 16);
#endif

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= 2;
  }
}
