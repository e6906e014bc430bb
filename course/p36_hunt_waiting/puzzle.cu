// Puzzle 36 in plain CUDA: bug hunt. The report says: early-return.
// out[i] = (a[i] + a[99 - i]) / 2, for 100 of 128 threads. Repair it; change as little as you can.
constexpr int SIZE = 100;

__global__ void mirror(const float* a, float* out) {
  __shared__ float mine[SIZE];
  const int i = threadIdx.x;
  //> CHANGE the lines below: run the file first, and read which threads wait
  if (i < SIZE) mine[i] = a[i];
  __syncthreads();
  if (i < SIZE) out[i] = (mine[i] + mine[SIZE - 1 - i]) / 2;
  //> instead
  if (i >= SIZE) return;
  mine[i] = a[i];
  __syncthreads();
  out[i] = (mine[i] + mine[SIZE - 1 - i]) / 2;
  //> end
}
