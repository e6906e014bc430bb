// Puzzle 44 in plain CUDA: bug hunt. The report says: a lane that is not in the mask, or has ended.
// out[0] is the sum of a[0] to a[19]: one warp, 20 of its lanes have a number.
constexpr int WARP = 32, SIZE = 20;
constexpr unsigned ALL = 0xffffffff;  // all lanes of the warp take part

__global__ void partial_sum(const float* a, float* out) {
  const int i = threadIdx.x;
  //> CHANGE the lines below: run the file first, and read who calls the shuffle
  float sum = 0;
  if (i < SIZE) sum = a[i];
  for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_down_sync(ALL, sum, step);
  if (i == 0) out[0] = sum;
  //> instead
  if (i < SIZE) {
    float sum = a[i];
    for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_down_sync(ALL, sum, step);
    if (i == 0) out[0] = sum;
  }
  //> end
}
