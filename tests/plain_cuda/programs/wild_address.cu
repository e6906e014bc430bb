// expect: out-of-bounds at 8
// No memory is there: not of the device, and not of the host.
__device__ int x;
__global__ void k() {
#ifdef FIXED
  x = 42;
#else
  *(int*)0x87654320 = 42;
#endif
}
int main() { k<<<1, 1>>>(); }
