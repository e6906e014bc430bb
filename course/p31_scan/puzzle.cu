// Puzzle 31 in plain CUDA: prefix sums.
// out[i] = a[0] + a[1] + ... + a[i], for 64 numbers in one block.
constexpr int SIZE = 64;

__global__ void scan(const float* a, float* out) {
  __shared__ float sums[SIZE];
  const int i = threadIdx.x;
  sums[i] = a[i];
  __syncthreads();
  for (int step = 1; step < SIZE; step *= 2) {
    //> FILL ME IN (about 4 lines): each thread adds the number `step` places to the left, if there is one
    const float left = i >= step ? sums[i - step] : 0;
    __syncthreads();
    sums[i] += left;
    __syncthreads();
    //> end
  }
  out[i] = sums[i];
}
