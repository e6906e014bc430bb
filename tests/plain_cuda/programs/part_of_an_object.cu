// expect: uninitialized-read at 25, uninitialized-read at 43, uninitialized-read at 44
// Members that nobody has written, beside padding, behind casts.
#include <cstdio>

struct Wide {
  int a;
  alignas(16) float b[4];
};
struct Pair {
  float v;
  long long i;
};
__global__ void write(Wide* w, Pair* p) {
  const int t = threadIdx.x;
  w[t].a = t;
  for (int k = 0; k < 3; ++k) w[t].b[k] = k;
  p[t].v = t;
#ifdef FIXED
  w[t].b[3] = t;
  p[t].i = t;
#endif
}
template <class T>
__global__ void copy(const T* from, T* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
template <class T>
T* memory() {
  T* at;
  cudaMalloc((void**)&at, 32 * sizeof(T));
  return at;
}
int main() {
  Wide *w = memory<Wide>(), *copies = memory<Wide>(), host[32];
  Pair *p = memory<Pair>(), *pairs = memory<Pair>(), pair[32];
  cudaMemset(copies, 0, sizeof host);
  cudaMemset(pairs, 0, sizeof pair);
  write<<<1, 32>>>(w, p);
#ifndef FIXED
  copy<<<1, 32>>>(w, copies);
  copy<<<1, 32>>>(p, pairs);
#endif
  cudaMemcpy(host, w, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(pair, p, sizeof pair, cudaMemcpyDeviceToHost);
  cudaFree(w), cudaFree(copies), cudaFree(p), cudaFree(pairs);
}
