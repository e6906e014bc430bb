// Macros of the program may have the names that headers give their own parameters.
// launch: add<<<1, T>>>(x: f16[T] = ones, y: f32[T])
#define A 100
#define B 101
#define C 102
#define D 103
#define E 104
#define F 105
#define G 106
#define H 107
#define I 108
#define J 109
#define K 110
#define L 111
#define M 112
#define N 113
#define O 114
#define P 115
#define Q 116
#define R 117
#define S 118
#define T 32
#define U 120
#define V 121
#define W 122
#define X 123
#define Y 124
#define Z 125
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>
#include <mma.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
static_assert(T == 32 && Z == 125);
__global__ void add(const half* x, float* y) {
  const auto block = cooperative_groups::this_thread_block();
  const auto warp = cooperative_groups::tiled_partition<32>(block);
  y[threadIdx.x] = cooperative_groups::reduce(warp, __half2float(x[threadIdx.x]),
                                              cooperative_groups::plus<float>());
}
