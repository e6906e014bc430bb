// Puzzle 45 in plain CUDA: bug hunt. The report says: race in shared memory, between two rounds.
// Three rounds of smoothing on 64 numbers: each becomes (left + 2 own + right) / 4.
// The two ends keep theirs.
constexpr int SIZE = 64, ROUNDS = 3;

__global__ void smooth(const float* a, float* out) {
  __shared__ float row[2][SIZE];
  const int i = threadIdx.x;
  row[0][i] = a[i];
  __syncthreads();
  for (int round = 0; round < ROUNDS; ++round) {
    const int from = round % 2, to = 1 - from;
    //> CHANGE the lines below: run the file first, and read which rounds meet
    float next = row[from][i];
    if (i > 0 && i < SIZE - 1) next = (row[from][i - 1] + 2 * row[from][i] + row[from][i + 1]) / 4;
    row[to][i] = next;
    __syncthreads();
    //> instead
    float next = row[from][i];
    if (i > 0 && i < SIZE - 1) next = (row[from][i - 1] + 2 * row[from][i] + row[from][i + 1]) / 4;
    __syncthreads();
    row[to][i] = next;
    //> end
  }
  out[i] = row[ROUNDS % 2][i];
}
