// Puzzle 37 in plain CUDA: bug hunt. The report says: race in global memory.
// out[0] is the largest of 256 numbers; all are above 0, and out[0] is 0 at the start. Four blocks.
constexpr int THREADS = 64;

__global__ void largest(const float* a, float* out) {
  __shared__ float all[THREADS];
  const int i = threadIdx.x;
  all[i] = a[blockIdx.x * THREADS + i];
  __syncthreads();
  if (i == 0) {
    float most = 0;
    for (int j = 0; j < THREADS; ++j) most = fmaxf(most, all[j]);
    //> CHANGE the line below: run the file first, and read which blocks meet. CUDA has atomicMax() of int: the bits of floats above 0 have their order
    atomicMax(reinterpret_cast<int*>(out), __float_as_int(most));
    //> instead
    if (most > out[0]) out[0] = most;
    //> end
  }
}
