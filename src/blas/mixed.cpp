// Products of short elements into longer ones, as OpenBLAS and MKL name them:
//
//   sbgemm_  gemm_bf16bf16f32_  cblas_...   bf16 into float
//   shgemm_  gemm_f16f16f32_    cblas_...   f16 into float
//   gemm_s8u8s32_               cblas_...   bytes into int32: C = alpha (A + ao) (B + bo) + beta C
//   + co
//
// Of the last, A is signed and B unsigned by columns; by rows A is unsigned and B signed, as MKL
// defines it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/workspace.hpp"
#include "export.hpp"
#include "level3.hpp"
#include "tessera/core/small_float.hpp"

namespace tessera::blas {

namespace {

/// The product of legal arguments of the Fortran function, C' = op(B)' op(A)' row-major.
template <class In, class Out>
cpu::Gemm<In, Out> gemm_of(const Arguments& a, const void* A, const void* B, Out* C) {
  cpu::Gemm<In, Out> gemm;
  gemm.M = a.n, gemm.N = a.m, gemm.K = a.k;
  gemm.A = static_cast<const cpu::ElementA<In>*>(B);
  gemm.B = static_cast<const cpu::ElementB<In>*>(A);
  gemm.a_row = is_transposed(a.trans_b) ? 1 : a.ldb,
  gemm.a_col = is_transposed(a.trans_b) ? a.ldb : 1;
  gemm.b_row = is_transposed(a.trans_a) ? 1 : a.lda,
  gemm.b_col = is_transposed(a.trans_a) ? a.lda : 1;
  gemm.C = C, gemm.c_row = a.ldc;
  gemm.threads = thread_limit();
  return gemm;
}

template <class In, class Out, class Body>
void run_as(const Routine& routine, const Arguments& requested, float alpha, float beta,
            const cpu::Gemm<In, Out>& gemm, const Body& body) {
  if (gemm.M <= 0 || gemm.N <= 0) return;
  if (!verbose()) return body();
  run_reported(routine, requested, alpha, beta, cpu::route_of(gemm), body);
}

template <class In>
void run_halves(const Routine& routine, const Arguments& requested, const Arguments& roles,
                float alpha, const void* A, const void* B, float beta, float* C) {
  auto gemm = gemm_of<In, float>(roles, A, B, C);
  gemm.alpha = alpha, gemm.beta = beta;
  run_as(routine, requested, alpha, beta, gemm, [&] { cpu::gemm(gemm); });
}

template <class In, class Int>
void halves(const char* name, const char* xerbla_name, const Arguments& a, float alpha,
            const void* A, const void* B, float beta, float* C) {
  if (const int number = first_illegal(a)) return illegal(xerbla_name, number, Int{});
  run_halves<In>({name, "column"}, a, a, alpha, A, B, beta, C);
}

template <class In, class Int>
void cblas_halves(const char* name, int order, const Arguments& a, float alpha, const void* A,
                  const void* B, float beta, float* C) {
  if (!are_legal(order, a)) return refuse<Int>(name, order, a, "", Form::plain);
  const bool rows = order == kRowMajor;
  run_halves<In>({name, rows ? "row" : "column"}, a, fortran_roles(order, a), alpha, rows ? B : A,
                 rows ? A : B, beta, C);
}

/// What is added to C: one value, one for each column of the Fortran function's C, or one for each
/// row.
enum class OffsetC : int { row = 171, column = 172, fixed = 173 };
constexpr int kFirstOffset = 171, kLastOffset = 173;

/// alpha, beta and the offsets of A, B and C, of the Fortran function.
struct Integers {
  float alpha, beta;
  int ao, bo;
  OffsetC form;
  const std::int32_t* co;

  bool changes_nothing() const {
    return alpha == 1 && (beta == 0 || beta == 1) && ao == 0 && bo == 0 && form == OffsetC::fixed &&
           *co == 0;
  }
};

using Bytes = cpu::Gemm<cpu::U8I8, std::int32_t>;  // A' is the unsigned B, B' is the signed A

/// To the nearest, ties to even; what does not fit, to the nearest that does.
std::int32_t to_int(double x) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::nearbyint(std::clamp<double>(std::isnan(x) ? 0 : x, Limits::min(), Limits::max())));
}

/// Rows and columns of a part of C where there is no memory for the sums of all.
constexpr index_t kPart = 48;

/// One part of the row-major C', whose sums fit into `memory`: (M, N), then M, then N.
void run_part(const Bytes& whole, const Integers& how, index_t i, index_t rows, index_t j,
              index_t cols, std::uint32_t* memory) {
  Bytes part = whole;
  part.M = rows, part.N = cols;
  part.A += i * whole.a_row, part.B += j * whole.b_col;
  std::uint32_t *const sums = memory, *const row_sums = sums + rows * cols,
                       *const column_sums = row_sums + rows;
  part.C = reinterpret_cast<std::int32_t*>(sums), part.c_row = cols;
  cpu::gemm(part);
  // (a + ao) (b + bo), summed over k: the products, the sums of one with the offset of the other.
  const auto ao = static_cast<std::uint32_t>(how.ao), bo = static_cast<std::uint32_t>(how.bo);
  std::fill_n(row_sums, rows + cols, 0u);
  for (index_t row = 0; how.ao != 0 && row < rows; ++row)
    for (index_t k = 0; k < part.K; ++k) row_sums[row] += part.A[row * part.a_row + k * part.a_col];
  for (index_t col = 0; how.bo != 0 && col < cols; ++col)
    for (index_t k = 0; k < part.K; ++k)
      column_sums[col] += static_cast<std::uint32_t>(part.B[k * part.b_row + col * part.b_col]);
  const std::uint32_t both = ao * bo * static_cast<std::uint32_t>(part.K);
  const bool exact = how.alpha == 1 && (how.beta == 0 || how.beta == 1);
  for (index_t row = 0; row < rows; ++row)
    for (index_t col = 0; col < cols; ++col) {
      std::int32_t& c = whole.C[(i + row) * whole.c_row + j + col];
      // A row of C' is a column of the Fortran function's C.
      const std::int32_t offset = how.form == OffsetC::fixed ? *how.co
                                  : how.form == OffsetC::row ? how.co[i + row]
                                                             : how.co[j + col];
      const std::uint32_t sum =
          sums[row * cols + col] + ao * row_sums[row] + bo * column_sums[col] + both;
      if (exact)
        c = static_cast<std::int32_t>(sum + static_cast<std::uint32_t>(offset) +
                                      (how.beta == 1 ? static_cast<std::uint32_t>(c) : 0u));
      else
        c = to_int(double{how.alpha} * static_cast<std::int32_t>(sum) +
                   (how.beta == 0 ? 0 : double{how.beta} * c) + offset);
    }
}

void run_bytes(const Routine& routine, const Arguments& requested, const Arguments& roles,
               const Integers& how, const void* A, const void* B, std::int32_t* C) {
  Bytes gemm = gemm_of<cpu::U8I8, std::int32_t>(roles, A, B, C);
  run_as(routine, requested, how.alpha, how.beta, gemm, [&] {
    if (how.changes_nothing()) {
      gemm.beta = how.beta == 1;
      return cpu::gemm(gemm);
    }
    const index_t M = gemm.M, N = gemm.N;
    const std::size_t bytes =
        cpu::Workspace::rounded(static_cast<std::size_t>(M * N + M + N) * sizeof(std::uint32_t));
    cpu::Workspace workspace(bytes);
    if (workspace) return run_part(gemm, how, 0, M, 0, N, workspace.take<std::uint32_t>(bytes));
    std::uint32_t memory[kPart * kPart + 2 * kPart];
    for (index_t i = 0; i < M; i += kPart)
      for (index_t j = 0; j < N; j += kPart)
        run_part(gemm, how, i, std::min(kPart, M - i), j, std::min(kPart, N - j), memory);
  });
}

template <class Int>
void bytes(const char* name, const char* offset, const Arguments& a, Integers how, const void* A,
           const void* B, std::int32_t* C) {
  const int lower = *offset | 0x20;
  const bool known = lower == 'f' || lower == 'c' || lower == 'r';
  int number = first_illegal(a);
  if (!known && (number == 0 || number > 2)) number = 3;
  else number = offsets_position(number);
  if (number != 0) return illegal("GEMM_S8U8S32", number, Int{});
  how.form = lower == 'f' ? OffsetC::fixed : lower == 'c' ? OffsetC::column : OffsetC::row;
  run_bytes({name, "column"}, a, a, how, A, B, C);
}

template <class Int>
void cblas_bytes(const char* name, int order, int offset, const Arguments& a, Integers how,
                 const void* A, const void* B, std::int32_t* C) {
  const bool letters = is_order(order) && is_legal(a.trans_a) && is_legal(a.trans_b);
  if (letters && (offset < kFirstOffset || offset > kLastOffset))
    return refuse<Int>(name, 4, {3, "offsetc", offset, "171 (row), 172 (column) or 173 (fixed)"});
  if (!are_legal(order, a)) return refuse<Int>(name, order, a, "", Form::offsets);
  const bool rows = order == kRowMajor;
  how.form = OffsetC{offset};
  if (rows) {
    std::swap(A, B), std::swap(how.ao, how.bo);
    if (how.form != OffsetC::fixed)
      how.form = how.form == OffsetC::row ? OffsetC::column : OffsetC::row;
  }
  run_bytes({name, rows ? "row" : "column"}, a, fortran_roles(order, a), how, A, B, C);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_FORTRAN_HALVES(name, xerbla_name, T, Int)                                          \
  TESSERA_EXPORT name(const char* trans_a, const char* trans_b, const Int* m, const Int* n,        \
                      const Int* k, const float* alpha, const void* A, const Int* lda,             \
                      const void* B, const Int* ldb, const float* beta, float* C,                  \
                      const Int* ldc) {                                                            \
    const Arguments a{transpose_of(trans_a), transpose_of(trans_b), *m, *n, *k, *lda, *ldb, *ldc}; \
    halves<T, Int>(#name, xerbla_name, a, *alpha, A, B, *beta, C);                                 \
  }
#define TESSERA_CBLAS_HALVES(name, T, Int)                                                       \
  TESSERA_EXPORT name(int order, int trans_a, int trans_b, Int m, Int n, Int k, float alpha,     \
                      const void* A, Int lda, const void* B, Int ldb, float beta, float* C,      \
                      Int ldc) {                                                                 \
    cblas_halves<T, Int>(#name, order,                                                           \
                         {transpose_of(trans_a), transpose_of(trans_b), m, n, k, lda, ldb, ldc}, \
                         alpha, A, B, beta, C);                                                  \
  }
#define TESSERA_HALVES(stem, capitals, T)              \
  TESSERA_FORTRAN_HALVES(stem##_, capitals, T, int)    \
  TESSERA_FORTRAN_HALVES(stem##_64_, capitals, T, i64) \
  TESSERA_CBLAS_HALVES(cblas_##stem, T, int)           \
  TESSERA_CBLAS_HALVES(cblas_##stem##_64, T, i64)      \
  TESSERA_CBLAS_HALVES(cblas_##stem##64_, T, i64)

TESSERA_HALVES(sbgemm, "SBGEMM", tessera::bf16)
TESSERA_HALVES(shgemm, "SHGEMM", tessera::f16)
TESSERA_HALVES(gemm_bf16bf16f32, "GEMM_BF16BF16F32", tessera::bf16)
TESSERA_HALVES(gemm_f16f16f32, "GEMM_F16F16F32", tessera::f16)

#define TESSERA_FORTRAN_BYTES(name, Int)                                                           \
  TESSERA_EXPORT name(const char* trans_a, const char* trans_b, const char* offset, const Int* m,  \
                      const Int* n, const Int* k, const float* alpha, const void* A,               \
                      const Int* lda, const std::int8_t* ao, const void* B, const Int* ldb,        \
                      const std::int8_t* bo, const float* beta, std::int32_t* C, const Int* ldc,   \
                      const std::int32_t* co) {                                                    \
    const Arguments a{transpose_of(trans_a), transpose_of(trans_b), *m, *n, *k, *lda, *ldb, *ldc}; \
    bytes<Int>(#name, offset, a, {*alpha, *beta, *ao, *bo, OffsetC::fixed, co}, A, B, C);          \
  }
#define TESSERA_CBLAS_BYTES(name, Int)                                                             \
  TESSERA_EXPORT name(int order, int trans_a, int trans_b, int offset, Int m, Int n, Int k,        \
                      float alpha, const void* A, Int lda, std::int8_t ao, const void* B, Int ldb, \
                      std::int8_t bo, float beta, std::int32_t* C, Int ldc,                        \
                      const std::int32_t* co) {                                                    \
    cblas_bytes<Int>(#name, order, offset,                                                         \
                     {transpose_of(trans_a), transpose_of(trans_b), m, n, k, lda, ldb, ldc},       \
                     {alpha, beta, ao, bo, OffsetC::fixed, co}, A, B, C);                          \
  }
TESSERA_FORTRAN_BYTES(gemm_s8u8s32_, int)
TESSERA_FORTRAN_BYTES(gemm_s8u8s32_64_, i64)
TESSERA_CBLAS_BYTES(cblas_gemm_s8u8s32, int)
TESSERA_CBLAS_BYTES(cblas_gemm_s8u8s32_64, i64)
TESSERA_CBLAS_BYTES(cblas_gemm_s8u8s3264_, i64)
