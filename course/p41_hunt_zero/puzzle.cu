// Puzzle 41 in plain CUDA: bug hunt. The report says: uninitialized-read.
// out[b] is the sum of the 256 numbers of block b: four for each thread.
// Then one thread adds the 64 sums.
constexpr int THREADS = 64, EACH = 4;

__global__ void block_sum(const float* a, float* out) {
  __shared__ float sums[THREADS];
  const int i = threadIdx.x, first = blockIdx.x * THREADS * EACH;
  //> CHANGE the line below: run the file first, and read what is added to what
  sums[i] = 0;
  for (int k = 0; k < EACH; ++k) sums[i] += a[first + k * THREADS + i];
  //> instead
  for (int k = 0; k < EACH; ++k) sums[i] += a[first + k * THREADS + i];
  //> end
  __syncthreads();
  if (i == 0) {
    float sum = 0;
    for (int j = 0; j < THREADS; ++j) sum += sums[j];
    out[blockIdx.x] = sum;
  }
}
