// Puzzle 6 in plain CUDA: many blocks.
// out = a + 10, one hundred elements, blocks of 32 threads.
constexpr int SIZE = 100;

__global__ void add_ten_in_blocks(const float* a, float* out) {
  //> FILL ME IN (2 lines): my element's number, from blockIdx.x, blockDim.x and threadIdx.x
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < SIZE) out[i] = a[i] + 10;
  //> end
}
