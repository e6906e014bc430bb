// sgemm_, dgemm_, cgemm_, zgemm_ and their cblas_ forms, under every name that callers use:
//
//   dgemm_     cblas_dgemm                          int
//   dgemm_64_  cblas_dgemm_64  cblas_dgemm64_       std::int64_t (reference LAPACK 3.12, OpenBLAS)
//   scipy_...                                       what NumPy and SciPy from PyPI call
#include "call.hpp"
#include "cpu/lanes_at_once.hpp"
#include "export.hpp"
#include "tessera/cpu/lanes.hpp"

namespace tessera::blas {

namespace {

/// Arguments in Fortran's order. The fast path: real elements, legal arguments, a nonempty product,
/// no report. False, and nothing done, for any other call. Without structures between the arguments
/// and the packed path, which would slow down a tiny product. Measured:
/// bench/results/cpu/tuning.md.
template <class T>
[[gnu::always_inline]] inline bool multiplied_at_once(Transpose trans_a, Transpose trans_b,
                                                      index_t m, index_t n, index_t k, T alpha,
                                                      const T* A, index_t lda, const T* B,
                                                      index_t ldb, T beta, T* C, index_t ldc) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool a_none = !is_transposed(trans_a), b_none = !is_transposed(trans_b);
    const bool ordinary = is_legal(trans_a) && is_legal(trans_b) && m > 0 && n > 0 && k > 0 &&
                          lda >= (a_none ? m : k) && ldb >= (b_none ? k : n) && ldc >= m &&
                          alpha != T{0} && verbosity.load(std::memory_order_acquire) == 0;
    if (!ordinary) return false;
    const index_t a_col = b_none ? 1 : ldb, b_row = a_none ? lda : 1;
    const index_t a_row = b_none ? ldb : 1, b_col = a_none ? 1 : lda;
    const bool lanes = cpu::takes_lanes<T>(n, m, k, a_col, b_row) &&
                       known_arithmetic.load(std::memory_order_relaxed) == Arithmetic::lanes;
    if (lanes) {
      if (alpha == T{1} && beta == T{0} && cpu::lanes_at_once(n, m, k, B, a_row, A, b_col, C, ldc))
        return true;
      // A single row of op(A) is contiguous along K either way, with the stride of K.
    } else if ((a_none || m == 1) &&
               cpu::gemm_if_tiny(n, m, k, B, a_row, a_col, A, b_row, C, ldc, alpha, beta)) {
      return true;
    }
    cpu::Gemm<T> gemm;
    gemm.M = n, gemm.N = m, gemm.K = k;
    gemm.A = B, gemm.a_row = a_row, gemm.a_col = a_col;
    gemm.B = A, gemm.b_row = b_row, gemm.b_col = b_col;
    gemm.C = C, gemm.c_row = ldc, gemm.c_col = 1;
    gemm.alpha = alpha, gemm.beta = beta;
    gemm.threads = thread_limit();
    if (lanes) gemm.arithmetic = Arithmetic::lanes;
    cpu::gemm(gemm);
    return true;
  }
  return false;
}

template <class T>
void multiply_and_report(const Routine& routine, const Arguments& requested,
                         const Product<T>& product) {
  if (!verbose()) return multiply(product);
  run_reported(routine, requested, product.alpha, product.beta, route_of(product),
               [&] { multiply(product); });
}

template <class T, class Int>
[[gnu::noinline]] void any_gemm(const char* name, const char* xerbla_name, Transpose trans_a,
                                Transpose trans_b, Int m, Int n, Int k, T alpha, const T* A,
                                Int lda, const T* B, Int ldb, T beta, T* C, Int ldc) {
  const Arguments a{trans_a, trans_b, m, n, k, lda, ldb, ldc};
  if (const int number = first_illegal(a)) return illegal(xerbla_name, number, Int{});
  multiply_and_report({name, "column"}, a, product_of(a, alpha, A, B, beta, C, thread_limit()));
}

template <class T, class Int>
[[gnu::noinline]] void any_cblas_gemm(const char* name, int order, int trans_a, int trans_b, Int m,
                                      Int n, Int k, T alpha, const T* A, Int lda, const T* B,
                                      Int ldb, T beta, T* C, Int ldc) {
  const Arguments a{Transpose{trans_a}, Transpose{trans_b}, m, n, k, lda, ldb, ldc};
  if (!are_legal(order, a)) return refuse<Int>(name, order, a, "", Form::plain);
  const bool rows = order == kRowMajor;
  multiply_and_report({name, rows ? "row" : "column"}, a,
                      product_of(fortran_roles(order, a), alpha, rows ? B : A, rows ? A : B, beta,
                                 C, thread_limit()));
}

template <class T, class Int>
void gemm(const char* name, const char* xerbla_name, const char* trans_a, const char* trans_b,
          const Int* m, const Int* n, const Int* k, const T* alpha, const T* A, const Int* lda,
          const T* B, const Int* ldb, const T* beta, T* C, const Int* ldc) {
  const Transpose ta = transpose_of(trans_a), tb = transpose_of(trans_b);
  if (!multiplied_at_once<T>(ta, tb, *m, *n, *k, *alpha, A, *lda, B, *ldb, *beta, C, *ldc))
    any_gemm<T, Int>(name, xerbla_name, ta, tb, *m, *n, *k, *alpha, A, *lda, B, *ldb, *beta, C,
                     *ldc);
}

template <class T, class Int>
void cblas_gemm(const char* name, int order, int trans_a, int trans_b, Int m, Int n, Int k, T alpha,
                const T* A, Int lda, const T* B, Int ldb, T beta, T* C, Int ldc) {
  const Transpose ta{trans_a}, tb{trans_b};
  if (order == kRowMajor
          ? multiplied_at_once<T>(tb, ta, n, m, k, alpha, B, ldb, A, lda, beta, C, ldc)
          : order == kColumnMajor &&
                multiplied_at_once<T>(ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc))
    return;
  any_cblas_gemm<T, Int>(name, order, trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C,
                         ldc);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_FORTRAN(name, xerbla_name, T, Int)                                               \
  TESSERA_EXPORT name(const char* trans_a, const char* trans_b, const Int* m, const Int* n,      \
                      const Int* k, const T* alpha, const T* A, const Int* lda, const T* B,      \
                      const Int* ldb, const T* beta, T* C, const Int* ldc) {                     \
    gemm<T, Int>(#name, xerbla_name, trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C,  \
                 ldc);                                                                           \
  }                                                                                              \
  TESSERA_EXPORT_ALIAS(name)                                                                     \
  scipy_##name(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, \
               const Int*, const T*, const Int*, const T*, T*, const Int*);

#define TESSERA_CBLAS_REAL(name, T, Int)                                                        \
  TESSERA_EXPORT name(int order, int trans_a, int trans_b, Int m, Int n, Int k, T alpha,        \
                      const T* A, Int lda, const T* B, Int ldb, T beta, T* C, Int ldc) {        \
    cblas_gemm<T, Int>(#name, order, trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C, \
                       ldc);                                                                    \
  }
#define TESSERA_CBLAS_COMPLEX(name, T, Int)                                                       \
  TESSERA_EXPORT name(int order, int trans_a, int trans_b, Int m, Int n, Int k, const T* alpha,   \
                      const T* A, Int lda, const T* B, Int ldb, const T* beta, T* C, Int ldc) {   \
    cblas_gemm<T, Int>(#name, order, trans_a, trans_b, m, n, k, *alpha, A, lda, B, ldb, *beta, C, \
                       ldc);                                                                      \
  }
#define TESSERA_CBLAS_ALIAS(of, name, Scalar, T, Int) \
  TESSERA_EXPORT_ALIAS(of)                            \
  name(int, int, int, Int, Int, Int, Scalar, const T*, Int, const T*, Int, Scalar, T*, Int);

#define TESSERA_TYPE(letter, capital, T, Scalar, CBLAS)                                 \
  TESSERA_FORTRAN(letter##gemm_, capital "GEMM ", T, int)                               \
  TESSERA_FORTRAN(letter##gemm_64_, capital "GEMM ", T, i64)                            \
  CBLAS(cblas_##letter##gemm, T, int)                                                   \
  CBLAS(cblas_##letter##gemm_64, T, i64)                                                \
  TESSERA_CBLAS_ALIAS(cblas_##letter##gemm, scipy_cblas_##letter##gemm, Scalar, T, int) \
  TESSERA_CBLAS_ALIAS(cblas_##letter##gemm_64, cblas_##letter##gemm64_, Scalar, T, i64) \
  TESSERA_CBLAS_ALIAS(cblas_##letter##gemm_64, scipy_cblas_##letter##gemm64_, Scalar, T, i64)

TESSERA_TYPE(s, "S", float, float, TESSERA_CBLAS_REAL)
TESSERA_TYPE(d, "D", double, double, TESSERA_CBLAS_REAL)
TESSERA_TYPE(c, "C", c32, const c32*, TESSERA_CBLAS_COMPLEX)
TESSERA_TYPE(z, "Z", c64, const c64*, TESSERA_CBLAS_COMPLEX)
#undef TESSERA_TYPE
