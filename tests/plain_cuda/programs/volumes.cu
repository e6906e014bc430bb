// Pitched memory in three dimensions.
__global__ void add(cudaPitchedPtr p, cudaExtent e) {
  const unsigned x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  char* const row = static_cast<char*>(p.ptr) + (z * e.height + y) * p.pitch;
  reinterpret_cast<int*>(row)[x] += static_cast<int>(x + 10 * y + 100 * z);
}

int main() {
  int host[4][3][5] = {}, wrong = 0;
  const cudaExtent extent = make_cudaExtent(5 * sizeof(int), 3, 4);
  cudaPitchedPtr there;
  wrong += cudaMalloc3D(&there, extent) != cudaSuccess;
  wrong += there.pitch < extent.width;
  wrong += cudaMemset3D(there, 0, extent) != cudaSuccess;
  add<<<dim3(3, 4), 5>>>(there, extent);
  cudaMemcpy3DParms how = {};
  how.srcPtr = there;
  how.dstPtr = make_cudaPitchedPtr(host, 5 * sizeof(int), 5, 3);
  how.extent = extent;
  how.kind = cudaMemcpyDeviceToHost;
  wrong += cudaMemcpy3D(&how) != cudaSuccess;
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 5; ++x) wrong += host[z][y][x] != x + 10 * y + 100 * z;
  cudaFree(there.ptr);
  return wrong;
}
