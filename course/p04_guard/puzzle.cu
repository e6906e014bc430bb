// Puzzle 4 in plain CUDA: more threads than elements.
// out = a + 10, five elements, eight threads.
constexpr int SIZE = 5;

__global__ void add_ten_guarded(const float* a, float* out) {
  const int i = threadIdx.x;
  //> FILL ME IN (1 line): threads 5, 6 and 7 have nothing to do
  if (i < SIZE) out[i] = a[i] + 10;
  //> end
}
