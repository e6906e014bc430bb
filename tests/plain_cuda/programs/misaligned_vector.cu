// expect: misaligned at 6
__global__ void copy(const float* in, float4* out) {
#ifdef FIXED
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x);
#else
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + 1);
#endif
}
int main() {
  float* in;
  float4* out;
  cudaMalloc(&in, 132 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float4));
  cudaMemset(in, 0, 132 * sizeof(float));
  copy<<<1, 32>>>(in, out);
  cudaFree(in), cudaFree(out);
}
