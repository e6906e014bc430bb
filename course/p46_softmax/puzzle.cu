// Puzzle 46 in plain CUDA: softmax, a warp for each row.
// out(r, j) = exp(a(r, j) - largest of row r) / (the sum of these): 4 rows of 32 numbers.
constexpr int COLS = 32;
constexpr unsigned ALL = 0xffffffff;  // all lanes of the warp take part

__global__ void softmax(const float* a, float* out) {
  const int at = threadIdx.y * COLS + threadIdx.x;  // a warp has one row, a lane one of its numbers
  const float mine = a[at];
  float largest = mine;
  for (int mask = COLS / 2; mask > 0; mask /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, mask));
  //> FILL ME IN (about 4 lines): e is exp of how far `mine` is below the largest; total is the sum of the e of all lanes, as a butterfly
  const float e = expf(mine - largest);
  float total = e;
  for (int mask = COLS / 2; mask > 0; mask /= 2) total += __shfl_xor_sync(ALL, total, mask);
  //> end
  //> FILL ME IN (1 line): store my share
  out[at] = e / total;
  //> end
}
