// expect: race at 8
constexpr int T = 16;
__global__ void sums(const float* in, float* out, int rounds) {
  __shared__ float s[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    s[y][x] = in[(r * T + y) * T + x];
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += s[i][x];
#ifdef FIXED
    __syncthreads();
#endif
  }
  out[y * T + x] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 4 * T * T * sizeof(float));
  cudaMalloc(&out, T * T * sizeof(float));
  cudaMemset(in, 0, 4 * T * T * sizeof(float));
  sums<<<1, dim3(T, T)>>>(in, out, 4);
  cudaFree(in), cudaFree(out);
}
