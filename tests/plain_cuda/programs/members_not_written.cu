// expect: uninitialized-read at 18, uninitialized-read at 20, uninitialized-read at 37
// Bytes that nobody has written, in copies of objects, that are no padding.
struct Best {
  float v;
  long long i;
};
__global__ void copies(Best* out, float4* vectors) {
  __shared__ Best s[32];
  __shared__ alignas(16) float f[32 * 4];
  const int t = threadIdx.x;
  s[t].v = t;
  for (int k = 0; k < 3; ++k) f[4 * t + k] = k;
#ifdef FIXED
  s[t].i = t;
  f[4 * t + 3] = 1;
#endif
  __syncthreads();
  out[t] = s[31 - t];
  // A vector of an array of numbers: each of them is an element.
  vectors[t] = *reinterpret_cast<float4*>(&f[4 * (31 - t)]);
}
__global__ void odd(float* out) {
#ifndef FIXED
  if (threadIdx.x % 2 == 0)
#endif
    out[threadIdx.x] = 1;
}
int main() {
  Best* best;
  float4* vectors;
  float *out, host[32];
  cudaMalloc(&best, 32 * sizeof *best);
  cudaMalloc(&vectors, 32 * sizeof *vectors);
  cudaMalloc(&out, sizeof host);
  copies<<<1, 32>>>(best, vectors);
  odd<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(best), cudaFree(vectors), cudaFree(out);
}
