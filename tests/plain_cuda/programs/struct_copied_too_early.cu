// expect: race at 10
// launch: k<<<1, 64>>>(out: i32[64])
// A thread takes a copy of a whole struct in shared memory that others are still writing.
struct Tile {
  int of[64];
};
__global__ void k(int* out) {
  __shared__ Tile s;
  const int i = threadIdx.x;
  s.of[i] = i;
#ifdef FIXED
  __syncthreads();
#endif
  const Tile mine = s;
  out[i] = mine.of[63 - i];
}
