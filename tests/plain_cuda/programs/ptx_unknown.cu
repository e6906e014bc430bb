// unknown: ptx_unknown.cu:6: inline PTX 'wgmma.fence.sync.aligned' is not supported
__global__ void k(int* out) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(out));
  out[threadIdx.x] = 1;
  // What the interpreter does not know is named.
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
int main() {
  int* d;
  cudaMalloc(&d, 128);
  k<<<1, 32>>>(d);
  cudaFree(d);
}
