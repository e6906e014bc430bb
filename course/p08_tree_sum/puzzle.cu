// Puzzle 8 in plain CUDA: the sum of a block, in a tree.
// 64 numbers: 32 threads add 32 pairs, then 16 threads add 16 pairs, and so on.
constexpr int SIZE = 64;

__global__ void tree_sum(const float* a, float* out) {
  __shared__ float sums[SIZE];
  const int i = threadIdx.x;
  sums[i] = a[i];
  __syncthreads();
  for (int half = SIZE / 2; half > 0; half /= 2) {
    //> FILL ME IN (2 lines): the first `half` threads add the element `half` to the right; wait
    if (i < half) sums[i] += sums[i + half];
    __syncthreads();
    //> end
  }
  //> FILL ME IN (1 line): one thread stores the sum
  if (i == 0) out[0] = sums[0];
  //> end
}
