// {s,d,c,z}gemmtr_ of the reference BLAS from 3.12.1 on, the same under OpenBLAS's and MKL's name
// gemmt_, and their cblas_ forms: the product of an (n,k) and a (k,n) matrix of which only one
// triangle of C is computed, read and written. Every element has the bits of a gemm.
#include "triangle.hpp"

#include "call.hpp"
#include "export.hpp"

namespace tessera::blas {

namespace {

/// p is row-major, so the Fortran call's lower triangle is its upper one.
template <class T>
void run(const Routine& routine, const Arguments& requested, const Product<T>& p,
         Triangle triangle) {
  const auto body = [&] { multiply_one_triangle(p, triangle); };
  if (!verbose()) return body();
  run_reported(routine, requested, p.alpha, p.beta, route_of_triangle(p), body);
}

template <class T, class Int>
void gemmtr(const char* name, const char* xerbla_name, char uplo, const Arguments& a, T alpha,
            const T* A, const T* B, T beta, T* C) {
  const bool lower = (uplo | 0x20) == 'l';
  const int number = lower || (uplo | 0x20) == 'u' ? triangle_position(first_illegal(a)) : 1;
  if (number != 0) return illegal(xerbla_name, number, Int{});
  run({name, "column"}, a, product_of(a, alpha, A, B, beta, C, thread_limit()),
      lower ? Triangle::upper : Triangle::lower);
}

template <class T, class Int>
void cblas_gemmtr(const char* name, int order, int uplo, const Arguments& a, T alpha, const T* A,
                  const T* B, T beta, T* C) {
  const bool rows = order == kRowMajor;
  if ((rows || order == kColumnMajor) && uplo != kUpper && uplo != kLower) {
    char text[80];
    std::snprintf(text, sizeof text, "argument 2 (uplo) is %d, expected 121 (upper) or 122 (lower)",
                  uplo);
    return illegal_c(2, name, text, Int{});
  }
  if (!are_legal(order, a)) return refuse<Int>(name, order, a, "", Form::triangle);
  run({name, rows ? "row" : "column"}, a,
      product_of(fortran_roles(order, a), alpha, rows ? B : A, rows ? A : B, beta, C,
                 thread_limit()),
      rows == (uplo == kLower) ? Triangle::lower : Triangle::upper);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_FORTRAN_TRIANGLE(name, xerbla_name, T, Int)                                        \
  TESSERA_EXPORT name(const char* uplo, const char* trans_a, const char* trans_b, const Int* n,    \
                      const Int* k, const T* alpha, const T* A, const Int* lda, const T* B,        \
                      const Int* ldb, const T* beta, T* C, const Int* ldc) {                       \
    const Arguments a{transpose_of(trans_a), transpose_of(trans_b), *n, *n, *k, *lda, *ldb, *ldc}; \
    gemmtr<T, Int>(#name, xerbla_name, *uplo, a, *alpha, A, B, *beta, C);                          \
  }
#define TESSERA_CBLAS_TRIANGLE(name, T, Int, Scalar, value)                                      \
  TESSERA_EXPORT name(int order, int uplo, int trans_a, int trans_b, Int n, Int k, Scalar alpha, \
                      const T* A, Int lda, const T* B, Int ldb, Scalar beta, T* C, Int ldc) {    \
    const Arguments a{transpose_of(trans_a), transpose_of(trans_b), n, n, k, lda, ldb, ldc};     \
    cblas_gemmtr<T, Int>(#name, order, uplo, a, value(alpha), A, B, value(beta), C);             \
  }
#define TESSERA_CBLAS_TRIANGLE_ALIAS(of, name, T, Int, Scalar) \
  TESSERA_EXPORT_ALIAS(of)                                     \
  name(int, int, int, int, Int, Int, Scalar, const T*, Int, const T*, Int, Scalar, T*, Int);

#define TESSERA_TRIANGLE(stem, capitals, T, Scalar, value)         \
  TESSERA_FORTRAN_TRIANGLE(stem##_, capitals, T, int)              \
  TESSERA_FORTRAN_TRIANGLE(stem##_64_, capitals, T, i64)           \
  TESSERA_CBLAS_TRIANGLE(cblas_##stem, T, int, Scalar, value)      \
  TESSERA_CBLAS_TRIANGLE(cblas_##stem##_64, T, i64, Scalar, value) \
  TESSERA_CBLAS_TRIANGLE_ALIAS(cblas_##stem##_64, cblas_##stem##64_, T, i64, Scalar)
#define TESSERA_TYPE(letter, capital, T, Scalar, value)                \
  TESSERA_TRIANGLE(letter##gemmtr, capital "GEMMTR", T, Scalar, value) \
  TESSERA_TRIANGLE(letter##gemmt, capital "GEMMT ", T, Scalar, value)

TESSERA_TYPE(s, "S", float, float, +)
TESSERA_TYPE(d, "D", double, double, +)
TESSERA_TYPE(c, "C", c32, const c32*, *)
TESSERA_TYPE(z, "Z", c64, const c64*, *)
#undef TESSERA_TYPE
