// Names that C++20 took from C++17, nvcc's default.
typedef unsigned char char8_t;
struct Idea {
  int concept, requires;
};
__global__ void k(int* concept, char8_t* out) {
  const int co_await = threadIdx.x;
  out[co_await ] = static_cast<char8_t>(concept[co_await ]);
}
int main() {
  Idea idea{1, 2};
  int* in;
  char8_t* out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32);
  cudaMemset(in, 0, 32 * sizeof(int));
  k<<<1, 32>>>(in, out);
  cudaFree(in), cudaFree(out);
  return 256 * (idea.concept + idea.requires);  // 0, to any system
}
