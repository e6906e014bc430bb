// expect: race at 8
// memcpy out of shared memory is a read of each element.
#include <cstring>

__global__ void k(int* out, int n) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
#ifdef FIXED
  __syncthreads();
#endif
  int mine[4];
  std::memcpy(mine, tile + 4 * (t % 16), n * sizeof(int));
  out[64 * blockIdx.x + t] = mine[n - 1];
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  k<<<1, 64>>>(x, 4);
  cudaFree(x);
}
