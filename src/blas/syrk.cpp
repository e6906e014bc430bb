// {s,d,c,z}syrk_, {c,z}herk_ and their cblas_ forms: C = alpha A A' + beta C, or A' A, of which one
// triangle is computed, read and written. Every element has the bits of a gemm.
#include "export.hpp"
#include "level3.hpp"

namespace tessera::blas {

namespace {

/// Of the Fortran function: op(A) is (n,k), C is (n,n), both stored by columns.
struct RankK {
  int uplo;
  Transpose trans;
  index_t n, k, lda, ldc;
};

/// What the second factor is for each first one: none where the argument is illegal. A real matrix
/// has no conjugate; of syrk no complex matrix is conjugated.
template <class T, bool Hermitian>
bool allows(Transpose trans) {
  if (Hermitian) return trans == Transpose::none || trans == Transpose::conjugate;
  return trans == Transpose::none || trans == Transpose::plain ||
         (std::is_floating_point_v<T> && trans == Transpose::conjugate);
}

template <class T, bool Hermitian>
Illegal first_illegal(const RankK& a) {
  const index_t rows = a.trans == Transpose::none ? a.n : a.k;
  if (!is_uplo(a.uplo)) return {1, "uplo", a.uplo, kUploExpected};
  if (!allows<T, Hermitian>(a.trans))
    return {2, "trans", static_cast<int>(a.trans),
            Hermitian                     ? "111 or 113"
            : std::is_floating_point_v<T> ? "111, 112 or 113"
                                          : "111 or 112"};
  if (a.n < 0) return {3, "N", a.n};
  if (a.k < 0) return {4, "K", a.k};
  if (a.lda < std::max<index_t>(1, rows)) return {7, "lda", a.lda, "", std::max<index_t>(1, rows)};
  if (a.ldc < std::max<index_t>(1, a.n)) return {10, "ldc", a.ldc, "", std::max<index_t>(1, a.n)};
  return {};
}

/// Legal arguments. The imaginary parts on the diagonal of a Hermitian C are not read and become 0.
template <class T, bool Hermitian>
void run(const Routine& routine, const RankK& a, T alpha, const T* A, T beta, T* C) {
  const Transpose other = a.trans != Transpose::none ? Transpose::none
                          : Hermitian                ? Transpose::conjugate
                                                     : Transpose::plain;
  const Arguments product{a.trans, other, a.n, a.n, a.k, a.lda, a.lda, a.ldc};
  const Product<T> p = product_of(product, alpha, A, A, beta, C, thread_limit());
  const auto body = [&] {
    // p is row-major, so the Fortran call's lower triangle is its upper one.
    multiply_one_triangle(p, a.uplo == kLower ? Triangle::upper : Triangle::lower);
    if constexpr (Hermitian) {
      const bool changes = (a.k > 0 && alpha != T{0}) || beta != T{1};
      for (index_t i = 0; changes && i < a.n; ++i) C[i * (a.ldc + 1)].imag(0);
    }
  };
  if (!verbose()) return body();
  run_reported(routine, product, alpha, beta, route_of_triangle(p), body);
}

template <class T, bool Hermitian, class Int>
void rank_k(const char* name, const char* xerbla_name, const RankK& a, T alpha, const T* A, T beta,
            T* C) {
  if (const Illegal bad = first_illegal<T, Hermitian>(a); bad.number != 0)
    return illegal(xerbla_name, bad.number, Int{});
  run<T, Hermitian>({name, "column"}, a, alpha, A, beta, C);
}

template <class T, bool Hermitian, class Int>
void cblas_rank_k(const char* name, int order, RankK a, T alpha, const T* A, T beta, T* C) {
  if (!is_order(order)) return refuse_order<Int>(name, order);
  const bool legal = is_uplo(a.uplo) && allows<T, Hermitian>(a.trans);
  if (order == kRowMajor && legal) {  // the transposes, by columns
    a.uplo = kUpper + kLower - a.uplo;
    a.trans = a.trans != Transpose::none ? Transpose::none
              : Hermitian                ? Transpose::conjugate
                                         : Transpose::plain;
  }
  if (const Illegal bad = first_illegal<T, Hermitian>(a); bad.number != 0)
    return refuse<Int>(name, bad.number + 1, bad);
  run<T, Hermitian>({name, order == kRowMajor ? "row" : "column"}, a, alpha, A, beta, C);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

// Real is the type of alpha and beta.
#define TESSERA_FORTRAN_RANK_K(name, xerbla_name, hermitian, T, Factor, Int)                       \
  TESSERA_EXPORT name(const char* uplo, const char* trans, const Int* n, const Int* k,             \
                      const Factor* alpha, const T* A, const Int* lda, const Factor* beta, T* C,   \
                      const Int* ldc) {                                                            \
    rank_k<T, hermitian, Int>(#name, xerbla_name,                                                  \
                              {uplo_of(uplo), transpose_of(trans), *n, *k, *lda, *ldc}, T(*alpha), \
                              A, T(*beta), C);                                                     \
  }                                                                                                \
  TESSERA_EXPORT_ALIAS(name)                                                                       \
  scipy_##name(const char*, const char*, const Int*, const Int*, const Factor*, const T*,          \
               const Int*, const Factor*, T*, const Int*);
#define TESSERA_CBLAS_RANK_K(name, hermitian, T, Scalar, value, Int)                           \
  TESSERA_EXPORT name(int order, int uplo, int trans, Int n, Int k, Scalar alpha, const T* A,  \
                      Int lda, Scalar beta, T* C, Int ldc) {                                   \
    cblas_rank_k<T, hermitian, Int>(#name, order, {uplo, transpose_of(trans), n, k, lda, ldc}, \
                                    T(value(alpha)), A, T(value(beta)), C);                    \
  }
#define TESSERA_CBLAS_RANK_K_ALIAS(of, name, T, Scalar, Int) \
  TESSERA_EXPORT_ALIAS(of)                                   \
  name(int, int, int, Int, Int, Scalar, const T*, Int, Scalar, T*, Int);

#define TESSERA_RANK_K(stem, capitals, hermitian, T, Factor, Scalar, value)        \
  TESSERA_FORTRAN_RANK_K(stem##_, capitals, hermitian, T, Factor, int)             \
  TESSERA_FORTRAN_RANK_K(stem##_64_, capitals, hermitian, T, Factor, i64)          \
  TESSERA_CBLAS_RANK_K(cblas_##stem, hermitian, T, Scalar, value, int)             \
  TESSERA_CBLAS_RANK_K(cblas_##stem##_64, hermitian, T, Scalar, value, i64)        \
  TESSERA_CBLAS_RANK_K_ALIAS(cblas_##stem, scipy_cblas_##stem, T, Scalar, int)     \
  TESSERA_CBLAS_RANK_K_ALIAS(cblas_##stem##_64, cblas_##stem##64_, T, Scalar, i64) \
  TESSERA_CBLAS_RANK_K_ALIAS(cblas_##stem##_64, scipy_cblas_##stem##64_, T, Scalar, i64)

TESSERA_RANK_K(ssyrk, "SSYRK ", false, float, float, float, +)
TESSERA_RANK_K(dsyrk, "DSYRK ", false, double, double, double, +)
TESSERA_RANK_K(csyrk, "CSYRK ", false, c32, c32, const c32*, *)
TESSERA_RANK_K(zsyrk, "ZSYRK ", false, c64, c64, const c64*, *)
TESSERA_RANK_K(cherk, "CHERK ", true, c32, float, float, +)
TESSERA_RANK_K(zherk, "ZHERK ", true, c64, double, double, +)
