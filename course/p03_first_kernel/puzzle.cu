// Puzzle 3 in plain CUDA: a kernel is what one thread does.
// out = a + 10, eight elements, one thread for each.
__global__ void add_ten(const float* a, float* out) {
  const int i = threadIdx.x;  // my number: 0 to 7
  //> FILL ME IN (1 line)
  out[i] = a[i] + 10;
  //> end
}
