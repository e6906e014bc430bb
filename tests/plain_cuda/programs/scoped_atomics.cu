// Atomic functions with an order and a scope.
__global__ void count(unsigned* sum, int* most, unsigned long long* last, unsigned* swaps) {
  __nv_atomic_fetch_add(sum, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(most, int(threadIdx.x), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store_n(last, 7, __NV_ATOMIC_RELEASE);
  unsigned found = __nv_atomic_load_n(swaps, __NV_ATOMIC_RELAXED);
  while (!__nv_atomic_compare_exchange_n(swaps, &found, found + 2, true, __NV_ATOMIC_RELAXED,
                                         __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)) {
  }
}

int main() {
  struct Counts {
    unsigned sum, swaps;
    unsigned long long last;
    int most;
  } host = {}, *device;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
  count<<<2, 64>>>(&device->sum, &device->most, &device->last, &device->swaps);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host.sum == 128 && host.most == 63 && host.last == 7 && host.swaps == 256 ? 0 : 1;
}
