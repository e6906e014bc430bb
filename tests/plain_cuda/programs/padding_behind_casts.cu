// Objects with padding in memory whose pointer is cast, or has no type: copies of them are right.
#include <cstring>

struct Pair {
  float v;
  long long i;
};
struct Wide {  // a gap of 12 bytes, and one of 28 at the end
  int a;
  alignas(16) float b[4];
  int c;
  alignas(32) char d[4];
};
struct Flags {
  unsigned a : 3, b : 20;
  short c;
  union {
    char small;
    double large;
  };
};
struct Child : Pair {
  char tag;
};
template <class T>
T* allocated(int n) {
  void* at = nullptr;
  cudaMalloc(&at, n * sizeof(T));
  return static_cast<T*>(at);
}
__device__ void set(Pair& x, int i) { x.v = i, x.i = i; }
__device__ void set(Child& x, int i) { x.v = i, x.i = i, x.tag = i; }
__device__ void set(Flags& x, int i) { x.a = i, x.b = i, x.c = i, x.small = i; }
__device__ void set(Wide& x, int i) {
  x.a = i, x.c = i;
  for (int k = 0; k < 4; ++k) x.b[k] = i, x.d[k] = i;
}
template <class T>
__global__ void write(T* x) {
  set(x[threadIdx.x], threadIdx.x);
}
template <class T>
__global__ void move(const T* from, T* to) {
  __shared__ T shared[32];
  const int t = threadIdx.x;
  shared[t] = from[t];
  __syncthreads();
  to[t] = shared[31 - t];
  if (t == 31) memcpy(to + t, shared + t, sizeof(T));
}
template <class T>
__global__ void move_dynamic(T* to) {
  extern __shared__ char raw[];
  T* const shared = reinterpret_cast<T*>(raw);
  set(shared[threadIdx.x], threadIdx.x);
  __syncthreads();
  to[threadIdx.x] = shared[31 - threadIdx.x];
}
/// In pieces of 4 bytes, whatever they hold.
__global__ void move_words(const int* from, int* to, int words) {
  for (int i = threadIdx.x; i < words; i += 32) to[i] = from[i];
}
template <class T>
void check(T* from, T* to, T* copy) {
  T host[32];
  write<<<1, 32>>>(from);
  move<<<1, 32>>>(from, to);
  cudaMemcpy(copy, to, sizeof host, cudaMemcpyDeviceToDevice);
  cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost);
}
template <class T>
void check() {
  T *a, *b, *c;
  cudaMalloc((void**)&a, 32 * sizeof(T));
  cudaMalloc(reinterpret_cast<void**>(&b), 32 * sizeof(T));
  cudaMallocAsync((void**)(&c), 32 * sizeof(T), 0);
  check(a, b, c);
  move_words<<<1, 32>>>((const int*)a, (int*)b, 32 * sizeof(T) / 4);
  cudaFree(a), cudaFree(b), cudaFree(c);
}
template <class T>
void check_without_type() {
  T *const a = allocated<T>(32), *const b = allocated<T>(32), *const c = allocated<T>(32);
  check(a, b, c);
  move_dynamic<<<1, 32, 32 * sizeof(T)>>>(a);
  cudaFree(a), cudaFree(b), cudaFree(c);
}
int main() {
  check<Pair>();
  check<Wide>();
  check<Flags>();
  check<Child>();
  check_without_type<Pair>();
  check_without_type<Flags>();
  std::size_t number;
  cudaMalloc((void**)&number, 64);  // no pointer at all
  return cudaFree((void*)number);
}
