// expect: cluster-exit at 36, cluster-exit at 38, race at 38
// Inline PTX of clusters: ranks, mapped addresses as generic and 32-bit ones, loads, stores,
// atomics and barriers; a thread that ends by exit.
#include <cstdint>
#include <cstdio>

__device__ inline uint32_t rank() {
  uint32_t out;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(out));
  return out;
}
__device__ inline void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
__device__ inline uint32_t mapped(const void* at, uint32_t to) {
  uint32_t out;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(out)
      : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(at))), "r"(to));
  return out;
}

__global__ void __cluster_dims__(4, 1, 1) pass_on(const int* in, int* out) {
  __shared__ int mine[32], total;
  const uint32_t t = threadIdx.x, me = rank();
  uint32_t count, whose, cluster;
  asm("mov.u32 %0, %%cluster_nctarank;\n\tmov.u32 %1, %%clusterid.x;" : "=r"(count), "=r"(cluster));
  if (t == 0) total = 0;
#ifdef FIXED
  meet();
#else
  __syncthreads();
#endif
  const uint32_t next = mapped(&mine[t], (me + 1) % count);
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(next), "r"(in[32 * blockIdx.x + t])
               : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(mapped(&total, 0)),
               "r"(1)
               : "memory");
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(whose) : "r"(next));
  meet();
  const int* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&mine[t]), "r"((me + 3) % count));
  int got = 0;
  if (whose == (me + 1) % count) asm volatile("ld.u32 %0, [%1];" : "=r"(got) : "l"(there));
  meet();
  if (t == 31) asm volatile("exit;");
  out[32 * blockIdx.x + t] = 1000 * cluster + got + (me == 0 ? total : 128);
}

int main() {
  int host[256], *in, *out, wrong = 0;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof host);
  pass_on<<<8, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i) {
    const int block = i / 32, from = block / 4 * 4 + (block + 2) % 4;
    wrong += host[i] != (i % 32 == 31 ? 0 : 1000 * (block / 4) + 32 * from + i % 32 + 128);
  }
  cudaFree(in);
  cudaFree(out);
  if (wrong != 0) std::printf("%d wrong\n", wrong);
  return wrong;
}
