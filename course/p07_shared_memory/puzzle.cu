// Puzzle 7 in plain CUDA: shared memory and the barrier.
// out is a reversed, 64 elements, through shared memory.
constexpr int SIZE = 64;

__global__ void reversed(const float* a, float* out) {
  __shared__ float values[SIZE];
  const int i = threadIdx.x;
  //> FILL ME IN (3 lines): a[i] into values[i], wait for the others, read what thread 63 - i wrote
  values[i] = a[i];
  __syncthreads();  // all values are there
  out[i] = values[SIZE - 1 - i];
  //> end
}
