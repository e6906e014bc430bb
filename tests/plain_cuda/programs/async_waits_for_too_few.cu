// expect: async-not-waited at 21
// launch: k<<<1, 64>>>(in: f32[128], out: f32[128])
// The wait does not cover the newest group, which is the one that is read.
__device__ void copy(float* to, const float* from) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from));
  asm volatile("cp.async.commit_group;");
}
__global__ void k(const float* in, float* out) {
  __shared__ float tile[2][64];
  const int i = threadIdx.x;
  copy(&tile[0][i], in + i);
  copy(&tile[1][i], in + 64 + i);
#ifdef FIXED
  asm volatile("cp.async.wait_group 0;");
#else
  asm volatile("cp.async.wait_group 1;");
#endif
  __syncthreads();
  out[i] = tile[0][63 - i];
  out[64 + i] = tile[1][63 - i];
  asm volatile("cp.async.wait_all;");
}
