// Puzzle 42 in plain CUDA: bug hunt. The report says: race in global memory, between blocks.
// out[i] = 2 a[i] + 1 for 300 elements: two blocks of 64 threads, each thread has several elements.
constexpr int SIZE = 300;

__global__ void strided(const float* a, float* out) {
  //> CHANGE the line below: run the file first, and read which threads share an element
  const int step = blockDim.x * gridDim.x;
  //> instead
  const int step = blockDim.x;
  //> end
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SIZE; i += step) out[i] = 2 * a[i] + 1;
}
