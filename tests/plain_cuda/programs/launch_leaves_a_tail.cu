// expect: uninitialized-read at 0
// launch: scale<<<COUNT / 32, 32>>>(x: f16[COUNT] = count, y: f16[COUNT],
//   factor: __float2half(2.0f))
#include <cuda_fp16.h>
#ifdef FIXED
#define COUNT 96
#else
#define COUNT 100
#endif
__global__ void scale(const __half* x, __half* y, __half factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __hmul(factor, x[i]);
}
