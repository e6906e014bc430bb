// Code that relies on warps of 32 lanes: right with them, wrong with 64 unless it asks warpSize.
#ifdef FIXED
#define LANES warpSize
#else
#define LANES 32
#endif

// The highest thread of each thread's warp, by a shuffle, and the number of lanes.
__global__ void last_of_warp(int* last, int* lanes) {
  const int i = threadIdx.x;
  last[i] = __shfl_sync(0xffffffffu, i, LANES - 1);
  lanes[i] = warpSize;
}

int main() {
  int *last, *lanes, host[128], width;
  cudaMalloc(&last, sizeof host);
  cudaMalloc(&lanes, sizeof host);
  last_of_warp<<<1, 128>>>(last, lanes);
  cudaMemcpy(host, last, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(&width, lanes, sizeof width, cudaMemcpyDeviceToHost);
  cudaFree(last);
  cudaFree(lanes);
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  if (width != warpSize || width != device.warpSize) return 2;
  for (int i = 0; i < 128; ++i) {
    if (host[i] != i / width * width + width - 1) return 1;
  }
  return 0;
}
