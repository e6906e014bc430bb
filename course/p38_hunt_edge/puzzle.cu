// Puzzle 38 in plain CUDA: bug hunt. The report says: out-of-bounds.
// out(r, c) = a(r, c) + a(r, c + 1); the last column has no neighbour and is copied. 20 x 45.
constexpr int ROWS = 20, COLS = 45;

__global__ void neighbours(const float* a, float* out) {
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  //> CHANGE the lines below: run the file first, and read which elements are touched
  if (r >= ROWS || c >= COLS) return;
  float sum = a[r * COLS + c];
  if (c + 1 < COLS) sum += a[r * COLS + c + 1];
  out[r * COLS + c] = sum;
  //> instead
  if (r > ROWS || c > COLS) return;
  float sum = a[r * COLS + c];
  if (c < COLS) sum += a[r * COLS + c + 1];
  out[r * COLS + c] = sum;
  //> end
}
