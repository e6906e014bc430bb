// Puzzle 34 in plain CUDA: softmax in one pass less.
// out(r, j) = exp(a(r, j)) / (sum of exp(a(r, :))), 32 rows of 24: one thread for each row.
constexpr int COLS = 24;

__global__ void online_softmax(const float* a, float* out) {
  const float* const row = a + threadIdx.x * COLS;
  float largest = row[0], total = 1;
  for (int j = 1; j < COLS; ++j) {
    const float x = row[j];
    //> FILL ME IN (about 3 lines): total is the sum of exp(a - largest) of all elements so far; x may be a new largest
    const float higher = fmaxf(largest, x);
    total = total * expf(largest - higher) + expf(x - higher);
    largest = higher;
    //> end
  }
  for (int j = 0; j < COLS; ++j) out[threadIdx.x * COLS + j] = expf(row[j] - largest) / total;
}
