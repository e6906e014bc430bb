// Puzzle 33 in plain CUDA: a convolution, and its halo.
// out[i] = a[i - 1] + 2 a[i] + a[i + 1], with zeros beyond both ends. 128 elements, blocks of 32.
constexpr int SIZE = 128, BLOCK = 32;

__global__ void convolution(const float* a, float* out) {
  __shared__ float part[BLOCK + 2];
  const int i = threadIdx.x, at = blockIdx.x * BLOCK + i;
  part[i + 1] = a[at];
  //> FILL ME IN (about 2 lines): the first and the last thread also load the element beside the block, or zero
  if (i == 0) part[0] = at > 0 ? a[at - 1] : 0;
  if (i == BLOCK - 1) part[BLOCK + 1] = at < SIZE - 1 ? a[at + 1] : 0;
  //> end
  __syncthreads();
  out[at] = part[i] + 2 * part[i + 1] + part[i + 2];
}
