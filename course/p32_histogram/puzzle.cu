// Puzzle 32 in plain CUDA: a histogram.
// a holds 512 whole numbers from 0 to 15; out[v] is how often v occurs. Four blocks.
constexpr int THREADS = 128, VALUES = 16;

__global__ void histogram(const float* a, float* out) {
  __shared__ float counts[VALUES];
  const int i = threadIdx.x;
  if (i < VALUES) counts[i] = 0;
  __syncthreads();
  const float value = a[blockIdx.x * THREADS + i];
  //> FILL ME IN (1 line): count my value in counts, where other threads count too
  atomicAdd(&counts[int(value)], 1.0f);
  //> end
  __syncthreads();
  //> FILL ME IN (1 line): 16 threads add the counts of this block to out; it holds zeros at the start
  if (i < VALUES) atomicAdd(&out[i], counts[i]);
  //> end
}
