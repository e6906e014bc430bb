// expect: uninitialized-read at 16, uninitialized-read at 17
// launch: k<<<1, 32>>>(a: f16[16,16], b: f16[16,16], c: f32[16,16])
// The sums of a matrix instruction begin with whatever was in the registers.
#include <mma.h>
using namespace nvcuda;
__global__ void k(const __half* a, const __half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
#ifdef FIXED
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum{};
#else
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
#endif
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
