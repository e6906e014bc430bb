// expect: exception at 9
// A shuffle in segments of three lanes: a width is a power of two.
__global__ void k(int* out) {
#ifdef FIXED
  constexpr int kWidth = 4;
#else
  constexpr int kWidth = 3;
#endif
  out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 2, kWidth);
}
int main() {
  int* out;
  cudaMalloc(&out, 128);
  k<<<1, 32>>>(out);
  cudaFree(out);
}
