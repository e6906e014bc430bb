// expect: out-of-bounds at 8
// What is behind a variable of the device is the program's, and is no pointer of the host's.
__device__ int table[16];
__global__ void k(int n) {
#ifdef FIXED
  if (threadIdx.x < n) table[threadIdx.x] = threadIdx.x;
#else
  if (threadIdx.x <= n) table[threadIdx.x] = threadIdx.x;
#endif
}
int main() { k<<<1, 32>>>(16); }
