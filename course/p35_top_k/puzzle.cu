// Puzzle 35 in plain CUDA: the four largest.
// out[0] to out[3] are the four largest of 64 numbers, the largest first;
// of equal numbers the earlier one.
constexpr int SIZE = 64, TOP = 4;

__global__ void top_k(const float* a, float* out) {
  __shared__ float all[SIZE];
  const int i = threadIdx.x;
  const float mine = a[i];
  all[i] = mine;
  __syncthreads();
  int before = 0;
  for (int j = 0; j < SIZE; ++j) {
    const float other = all[j];
    //> FILL ME IN (1 line): count the numbers that come before mine
    before += other > mine || (other == mine && j < i);
    //> end
  }
  //> FILL ME IN (1 line): a thread whose number is among the first four stores it
  if (before < TOP) out[before] = mine;
  //> end
}
