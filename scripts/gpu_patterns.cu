// Single accesses of one warp, for Nsight Compute to count: one launch for each line of stdin,
//   (global | shared) (load | store) BYTES OFFSET0 ... OFFSET31
// where lane i touches BYTES bytes (4, 8 or 16) after OFFSETi; -1: the lane takes no part.
// Compiled and started by scripts/gpu_truth.py.
#include <cstdio>
#include <cstring>

constexpr int kLanes = 32, kMostBytes = 1 << 15;

struct Access {
  int bytes;
  bool stores;
  int offset[kLanes];
};

/// Something depends on the loaded value: otherwise ptxas would remove the load.
__device__ void keep(unsigned x) {
  if (x == 0x9e3779b9u) __trap();
}
__device__ void keep(uint2 x) { keep(x.x ^ x.y); }
__device__ void keep(uint4 x) { keep(x.x ^ x.y ^ x.z ^ x.w); }

template <class T>
__device__ void touch(char* memory, const Access& a) {
  const int offset = a.offset[threadIdx.x];
  if (offset < 0) return;
  T* const at = reinterpret_cast<T*>(memory + offset);
  if (a.stores) *at = T{};
  else keep(*at);
  asm volatile("" ::"l"(memory) : "memory");  // someone may read what was stored
}

template <class T>
__global__ void of_global(const __grid_constant__ Access a, char* memory) {
  touch<T>(memory, a);
}

template <class T>
__global__ void of_shared(const __grid_constant__ Access a) {
  __shared__ __align__(128) char memory[kMostBytes];
  touch<T>(memory, a);
}

template <class T>
void launch(bool is_shared, const Access& a, char* memory) {
  if (is_shared) of_shared<T><<<1, kLanes>>>(a);
  else of_global<T><<<1, kLanes>>>(a, memory);
}

int fail(int code, const char* why) {
  std::fprintf(stderr, "gpu_patterns: %s\n", why);
  return code;
}

int main() {
  char* memory = nullptr;
  if (cudaMalloc(&memory, kMostBytes) != cudaSuccess ||
      cudaMemset(memory, 0, kMostBytes) != cudaSuccess)
    return fail(4, "no GPU answers");
  char space[16], operation[16];
  for (Access a; std::scanf("%15s %15s %d", space, operation, &a.bytes) == 3;) {
    a.stores = std::strcmp(operation, "store") == 0;
    bool good = a.bytes == 4 || a.bytes == 8 || a.bytes == 16;
    for (int& offset : a.offset)
      good = good && std::scanf("%d", &offset) == 1 && offset + a.bytes <= kMostBytes &&
             (offset < 0 || offset % a.bytes == 0);
    if (!good) return fail(2, "cannot read an access");
    const bool is_shared = std::strcmp(space, "shared") == 0;
    a.bytes == 4   ? launch<unsigned>(is_shared, a, memory)
    : a.bytes == 8 ? launch<uint2>(is_shared, a, memory)
                   : launch<uint4>(is_shared, a, memory);
    if (cudaDeviceSynchronize() != cudaSuccess)
      return fail(1, cudaGetErrorString(cudaGetLastError()));
  }
}
