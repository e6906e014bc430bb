// expect: race at 12
// launch: k<<<1, 64>>>(out: i32[64])
// One thread assigns a whole struct in shared memory, and no barrier follows.
struct Tile {
  int of[64];
};
__global__ void k(int* out) {
  __shared__ Tile a, b;
  const int i = threadIdx.x;
  a.of[i] = i;
  __syncthreads();
  if (i == 0) b = a;
#ifdef FIXED
  __syncthreads();
#endif
  out[i] = b.of[63 - i];
}
