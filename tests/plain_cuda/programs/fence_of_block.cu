// expect: race at 11
// The fences order the threads of one block alone; the data goes to another.
#ifdef FIXED
#define FENCE __threadfence
#else
#define FENCE __threadfence_block
#endif
__global__ void k(int* data, int* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 1;
    FENCE();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    FENCE();
    *out = *data;
  }
}

int main() {
  int* all;
  cudaMalloc(&all, 12);
  cudaMemset(all, 0, 12);
  k<<<2, 32>>>(all, all + 1, all + 2);
  cudaDeviceSynchronize();
  cudaFree(all);
}
