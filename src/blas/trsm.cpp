// {s,d,c,z}trsm_ and trmm_ and their cblas_ forms: op(A) X = alpha B or X op(A) = alpha B solved
// for X, and X = alpha op(A) B or alpha B op(A); A is triangular, X replaces B.
#include "export.hpp"
#include "level3.hpp"
#include "triangular.hpp"

namespace tessera::blas {

namespace {

/// Of the Fortran function: B is (m,n), both matrices are stored by columns.
struct OneTriangle {
  Side side;
  int uplo;
  Transpose trans;
  Diagonal diagonal;
  index_t m, n, lda, ldb;

  bool left() const { return side == Side::left; }
  index_t order() const { return left() ? m : n; }
};

Side side_of(const char* letter) { return Side{number_of(letter, 'l', 141, 'r', 142)}; }
Diagonal diagonal_of(const char* letter) { return Diagonal{number_of(letter, 'n', 131, 'u', 132)}; }

Illegal first_illegal(const OneTriangle& a) {
  if (a.side != Side::left && a.side != Side::right)
    return {1, "side", static_cast<int>(a.side), "141 (left) or 142 (right)"};
  if (!is_uplo(a.uplo)) return {2, "uplo", a.uplo, kUploExpected};
  if (!is_legal(a.trans)) return {3, "transA", static_cast<int>(a.trans), kTransExpected};
  if (a.diagonal != Diagonal::stored && a.diagonal != Diagonal::unit)
    return {4, "diag", static_cast<int>(a.diagonal), "131 (stored) or 132 (unit)"};
  if (a.m < 0) return {5, "M", a.m};
  if (a.n < 0) return {6, "N", a.n};
  const index_t lda = std::max<index_t>(1, a.order()), ldb = std::max<index_t>(1, a.m);
  if (a.lda < lda) return {9, "lda", a.lda, "", lda};
  if (a.ldb < ldb) return {11, "ldb", a.ldb, "", ldb};
  return {};
}

/// Legal arguments. X op(A) is the transpose of op(A)' X'.
template <class T, bool Solves>
void run(const Routine& routine, const OneTriangle& a, T alpha, const T* A, T* B) {
  const bool turned = is_transposed(a.trans) == a.left();
  Triangular<T> call{};
  call.n = a.order(), call.columns = a.left() ? a.n : a.m;
  call.t = A, call.t_row = turned ? a.lda : 1, call.t_col = turned ? 1 : a.lda;
  call.conjugate = is_conjugate(a.trans);
  call.lower = (a.uplo == kLower) != turned;
  call.unit = a.diagonal == Diagonal::unit;
  call.x = B, call.x_row = a.left() ? 1 : a.ldb, call.x_col = a.left() ? a.ldb : 1;
  call.alpha = alpha, call.threads = thread_limit();
  const auto body = [&] { Solves ? solve_triangular(call) : multiply_triangular(call); };
  if (!verbose()) return body();
  const auto start = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  const char letters[] = {a.left() ? 'L' : 'R', a.uplo == kLower ? 'L' : 'U', letter(a.trans),
                          call.unit ? 'U' : 'N', '\0'};
  report(routine, a.m, a.n, call.n, letters, alpha, T{0},
         {"triangle", "blocks on the diagonal, products beside them",
          call.threads > 0 ? call.threads : default_threads()},
         spent.count());
}

template <class T, bool Solves, class Int>
void one_triangle(const char* name, const char* xerbla_name, const OneTriangle& a, T alpha,
                  const T* A, T* B) {
  if (const Illegal bad = first_illegal(a); bad.number != 0)
    return illegal(xerbla_name, bad.number, Int{});
  run<T, Solves>({name, "column"}, a, alpha, A, B);
}

template <class T, bool Solves, class Int>
void cblas_one_triangle(const char* name, int order, OneTriangle a, T alpha, const T* A, T* B) {
  if (!is_order(order)) return refuse_order<Int>(name, order);
  const bool rows = order == kRowMajor;
  const Illegal letters = first_illegal({a.side, a.uplo, a.trans, a.diagonal, 0, 0, 1, 1});
  if (rows && letters.number == 0) {  // B' by columns
    a.side = a.left() ? Side::right : Side::left;
    a.uplo = kUpper + kLower - a.uplo;
    std::swap(a.m, a.n);
  }
  Illegal bad = letters.number != 0 ? letters : first_illegal(a);
  if (bad.number != 0) {
    const int number = bad.number + 1;  // as the reference: of B'
    if (rows && bad.number == 5) bad.number = 6, bad.argument = "N";
    else if (rows && bad.number == 6) bad.number = 5, bad.argument = "M";
    return refuse<Int>(name, number, bad);
  }
  run<T, Solves>({name, rows ? "row" : "column"}, a, alpha, A, B);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_FORTRAN_ONE(name, xerbla_name, solves, T, Int)                                 \
  TESSERA_EXPORT name(const char* side, const char* uplo, const char* trans, const char* diag, \
                      const Int* m, const Int* n, const T* alpha, const T* A, const Int* lda,  \
                      T* B, const Int* ldb) {                                                  \
    one_triangle<T, solves, Int>(#name, xerbla_name,                                           \
                                 {side_of(side), uplo_of(uplo), transpose_of(trans),           \
                                  diagonal_of(diag), *m, *n, *lda, *ldb},                      \
                                 *alpha, A, B);                                                \
  }                                                                                            \
  TESSERA_EXPORT_ALIAS(name)                                                                   \
  scipy_##name(const char*, const char*, const char*, const char*, const Int*, const Int*,     \
               const T*, const T*, const Int*, T*, const Int*);
#define TESSERA_CBLAS_ONE(name, solves, T, Scalar, value, Int)                                 \
  TESSERA_EXPORT name(int order, int side, int uplo, int trans, int diag, Int m, Int n,        \
                      Scalar alpha, const T* A, Int lda, T* B, Int ldb) {                      \
    cblas_one_triangle<T, solves, Int>(                                                        \
        #name, order, {Side{side}, uplo, transpose_of(trans), Diagonal{diag}, m, n, lda, ldb}, \
        value(alpha), A, B);                                                                   \
  }
#define TESSERA_CBLAS_ONE_ALIAS(of, name, T, Scalar, Int) \
  TESSERA_EXPORT_ALIAS(of)                                \
  name(int, int, int, int, int, Int, Int, Scalar, const T*, Int, T*, Int);

#define TESSERA_ONE(stem, capitals, solves, T, Scalar, value)                   \
  TESSERA_FORTRAN_ONE(stem##_, capitals, solves, T, int)                        \
  TESSERA_FORTRAN_ONE(stem##_64_, capitals, solves, T, i64)                     \
  TESSERA_CBLAS_ONE(cblas_##stem, solves, T, Scalar, value, int)                \
  TESSERA_CBLAS_ONE(cblas_##stem##_64, solves, T, Scalar, value, i64)           \
  TESSERA_CBLAS_ONE_ALIAS(cblas_##stem, scipy_cblas_##stem, T, Scalar, int)     \
  TESSERA_CBLAS_ONE_ALIAS(cblas_##stem##_64, cblas_##stem##64_, T, Scalar, i64) \
  TESSERA_CBLAS_ONE_ALIAS(cblas_##stem##_64, scipy_cblas_##stem##64_, T, Scalar, i64)
#define TESSERA_TYPE(letter, capital, T, Scalar, value)              \
  TESSERA_ONE(letter##trsm, capital "TRSM ", true, T, Scalar, value) \
  TESSERA_ONE(letter##trmm, capital "TRMM ", false, T, Scalar, value)

TESSERA_TYPE(s, "S", float, float, +)
TESSERA_TYPE(d, "D", double, double, +)
TESSERA_TYPE(c, "C", c32, const c32*, *)
TESSERA_TYPE(z, "Z", c64, const c64*, *)
#undef TESSERA_TYPE
