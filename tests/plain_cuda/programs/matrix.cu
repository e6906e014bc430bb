// Matrix instructions: wmma in several shapes and types, and ldmatrix with mma.sync in inline PTX.
#include <cstdint>
#include <cstdio>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "mma.h"

using namespace nvcuda;

template <int M, int N, int K, class T, class S, class LA, class LB>
__global__ void one(const T* a, const T* b, S* c, int lda, int ldb) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, S> sum;
  wmma::fill_fragment(sum, static_cast<S>(0));
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::mma_sync(sum, fa, fb, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

static int failures = 0;
static void expect(bool holds, const char* what, int i, double got, double wanted) {
  if (!holds && ++failures < 20) std::printf("wrong: %s %d: %g, not %g\n", what, i, got, wanted);
}

template <int M, int N, int K, class T, class S, class LA, class LB>
static void shape(const char* what, bool a_rows, bool b_rows) {
  T a[M * K], b[K * N];
  S c[M * N];
  for (int i = 0; i < M * K; ++i) a[i] = static_cast<T>(i * 7 % 5 - 2);
  for (int i = 0; i < K * N; ++i) b[i] = static_cast<T>(i * 3 % 7 - 3);
  T *da, *db;
  S* dc;
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  one<M, N, K, T, S, LA, LB><<<1, 32>>>(da, db, dc, a_rows ? K : M, b_rows ? N : K);
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double wanted = 0;
      for (int k = 0; k < K; ++k)
        wanted += static_cast<double>(static_cast<float>(a[a_rows ? i * K + k : k * M + i])) *
                  static_cast<float>(b[b_rows ? k * N + j : j * K + k]);
      expect(static_cast<double>(static_cast<float>(c[i * N + j])) == 2 * wanted, what, i * N + j,
             static_cast<float>(c[i * N + j]), 2 * wanted);
    }
  cudaFree(da), cudaFree(db), cudaFree(dc);
}

__global__ void by_ptx(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) sa[i] = a[i];
  for (int i = lane; i < 128; i += 32) sb[i] = b[i];
  __syncwarp();
  uint32_t ra[4], rb[2];
  float d[4] = {0, 0, 0, 0};
  const uint32_t pa = __cvta_generic_to_shared(sa + lane % 16 * 16 + lane / 16 * 8);
  const uint32_t pb = __cvta_generic_to_shared(sb + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(pb));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  const int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = d[0], c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2], c[(row + 8) * 8 + column + 1] = d[3];
}

int main() {
  using R = wmma::row_major;
  using C = wmma::col_major;
  shape<16, 16, 16, __half, float, R, R>("half, rows", true, true);
  shape<16, 16, 16, __half, float, C, C>("half, columns", false, false);
  shape<16, 16, 16, __half, __half, R, C>("half sums", true, false);
  shape<32, 8, 16, __nv_bfloat16, float, R, C>("bfloat16", true, false);
  shape<8, 32, 16, __half, float, C, R>("wide", false, true);
  shape<16, 16, 16, signed char, int, R, C>("bytes", true, false);
  shape<8, 8, 4, double, double, R, C>("double", true, false);
  __half a[256], b[128];
  float c[128];
  for (int i = 0; i < 256; ++i) a[i] = i * 7 % 11 - 5;
  for (int i = 0; i < 128; ++i) b[i] = i * 5 % 13 - 6;
  __half *da, *db;
  float* dc;
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  by_ptx<<<1, 32>>>(da, db, dc);
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      float wanted = 0;
      for (int k = 0; k < 16; ++k)
        wanted += __half2float(a[i * 16 + k]) * __half2float(b[k * 8 + j]);
      expect(c[i * 8 + j] == wanted, "mma.sync", i * 8 + j, c[i * 8 + j], wanted);
    }
  cudaFree(da), cudaFree(db), cudaFree(dc);
  return failures != 0;
}
