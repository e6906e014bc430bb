// expect: mma-misuse at 13
// launch: k<<<1, THREADS>>>(c: f32[16,16] = zeros)
// A matrix instruction needs all 32 lanes.
#include <mma.h>
using namespace nvcuda;
__global__ void k(float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(a, 1.0f);
  wmma::fill_fragment(b, 1.0f);
  wmma::fill_fragment(sum, 0.0f);
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
#ifdef FIXED
#define THREADS 32
#else
#define THREADS 16
#endif
