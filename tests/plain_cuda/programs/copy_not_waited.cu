// expect: async-not-waited at 12
__global__ void k(const float* in, float* out) {
  __shared__ float tile[32];
  const int i = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(tile + i))),
               "l"(in + i));
  asm volatile("cp.async.commit_group;");
#ifdef FIXED
  asm volatile("cp.async.wait_group 0;");
#endif
  out[i] = tile[i];
  asm volatile("cp.async.wait_group 0;");
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 128), cudaMalloc(&out, 128);
  cudaMemset(in, 0, 128);
  k<<<1, 32>>>(in, out);
  cudaFree(in), cudaFree(out);
}
