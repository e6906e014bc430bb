// Puzzle 29 in plain CUDA: the sum of a warp.
// 128 numbers, one block: out[w] is the sum of the 32 numbers of warp w.
constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;  // all lanes of the warp take part

__global__ void warp_sum(const float* a, float* out) {
  const int i = threadIdx.x;
  float sum = a[i];
  for (int step = WARP / 2; step > 0; step /= 2) {
    //> FILL ME IN (1 line): add the sum of the lane that is `step` lanes above
    sum += __shfl_down_sync(ALL, sum, step);
    //> end
  }
  if (i % WARP == 0) out[i / WARP] = sum;
}
