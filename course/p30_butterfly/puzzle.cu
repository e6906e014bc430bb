// Puzzle 30 in plain CUDA: a butterfly.
// out[i] is how far a[i] is below the largest number of its warp: every lane needs the maximum.
constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;  // all lanes of the warp take part

__global__ void butterfly(const float* a, float* out) {
  const int i = threadIdx.x;
  const float mine = a[i];
  float largest = mine;
  for (int mask = WARP / 2; mask > 0; mask /= 2) {
    //> FILL ME IN (1 line): take the maximum with the lane whose number differs in the bit `mask`
    largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, mask));
    //> end
  }
  out[i] = largest - mine;
}
