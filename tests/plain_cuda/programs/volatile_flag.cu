// expect: race at 8
// A flag by volatile accesses: they are relaxed atomics, and fences on both sides order the data.
__global__ void k(int* data, volatile int* flag, volatile int* count, int* out) {
  if (threadIdx.x != 0) return;
  if (count[2] != 0) count[2] = 0;
  count[1] = 1;  // by both blocks: no race
  if (blockIdx.x == 0) {
    data[0] = 42;
#ifdef FIXED
    __threadfence();
#endif
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = data[0];
  }
}

int main() {
  int* all;
  cudaMalloc(&all, 24);
  cudaMemset(all, 0, 24);
  k<<<2, 32>>>(all, all + 1, all + 2, all + 5);
  cudaDeviceSynchronize();
  cudaFree(all);
}
