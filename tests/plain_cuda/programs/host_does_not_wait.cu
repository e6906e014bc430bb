// expect: race at 18, race at 24, race at 29
// The host touches memory that it shares with the device before it waits: a result in managed
// memory, what a copy brings into pinned memory, and what a copy still reads.
__global__ void fill(int* x) { x[threadIdx.x] = 7; }

int main() {
  int *managed, *pinned, *device, wrong = 0;
  cudaStream_t stream;
  cudaMallocManaged(&managed, 32 * sizeof(int));
  cudaMallocHost(&pinned, 32 * sizeof(int));
  cudaMalloc(&device, 32 * sizeof(int));

  managed[3] = 0;
  fill<<<1, 32>>>(managed);
#ifdef FIXED
  cudaDeviceSynchronize();
#endif
  wrong += managed[3] != 7;
  cudaStreamCreate(&stream);

  fill<<<1, 32, 0, stream>>>(device);
  cudaMemcpyAsync(pinned, device, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
#ifndef FIXED
  wrong += pinned[5] != 7;
#endif
  cudaStreamSynchronize(stream);
  cudaMemcpyAsync(device, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
#ifndef FIXED
  pinned[6] = 0;
#endif
  wrong += pinned[7] != 7;  // two readers
  cudaStreamSynchronize(stream);
  pinned[6] = 1;

  cudaStreamDestroy(stream);
  cudaFree(managed);
  cudaFreeHost(pinned);
  cudaFree(device);
  return wrong;
}
