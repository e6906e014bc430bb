// {s,d,c,z}gemm_batch_strided_ and cblas_{s,d,c,z}gemm_batch_strided, as MKL defines them: products
// of one shape whose matrices are a constant stride apart. A stride of 0 uses one A or B for all; a
// negative one, which MKL does not have either and which an overflow would give, is illegal.
#include <limits>

#include "batch.hpp"
#include "export.hpp"

namespace tessera::blas {

namespace {

template <class T>
struct Strided {
  Arguments a;  ///< Fortran roles
  T alpha;
  const T* A;
  index_t step_a;
  const T* B;
  index_t step_b;
  T beta;
  T* C;
  index_t step_c;
  int threads = 0;

  Product<T> product(index_t i) const {
    // An operand that is not read may have any stride and address.
    const index_t read = a.k > 0 && alpha != T{0} ? i : 0;
    return product_of(a, alpha, A + read * step_a, B + read * step_b, beta, C + i * step_c,
                      threads);
  }
};

/// The least stride at which the matrices C do not overlap; a single matrix may exceed 64 bits.
index_t least_step_c(const Arguments& a, index_t count) {
  if (count < 2 || a.m == 0 || a.n == 0) return 0;
  index_t least;
  if (__builtin_mul_overflow(a.ldc, a.n - 1, &least) || __builtin_add_overflow(least, a.m, &least))
    return std::numeric_limits<index_t>::max();
  return least;
}

template <class T>
void run(const Routine& routine, const Arguments& requested, const Strided<T>& batch) {
  const index_t count = routine.products;
  const auto body = [&] {
    if (batch.a.m == 0 || batch.a.n == 0) return;
    run_products(count, multiply_adds<T>(batch.a, count), [&](int threads) {
      Strided<T> own = batch;
      own.threads = threads;
      return [own, repeated = Repeated<T>(own.product(0))](index_t i) { repeated(own.product(i)); };
    });
  };
  if (!verbose()) return body();
  Strided<T> own = batch;
  own.threads = thread_limit();
  run_reported(routine, requested, batch.alpha, batch.beta,
               count == 0 ? kNoProducts
                          : route_of_batch(own.product(0), count, multiply_adds<T>(batch.a, count)),
               body);
}

template <class T, class Int>
void fortran_strided(const char* name, const char* xerbla_name, const Strided<T>& batch,
                     Int count) {
  int number = strided_position(first_illegal(batch.a));
  if (number == 0 && batch.step_a < 0) number = 9;
  if (number == 0 && batch.step_b < 0) number = 12;
  if (number == 0 && count < 0) number = 17;
  if (number == 0 && batch.step_c < least_step_c(batch.a, count)) number = 16;
  if (number != 0) return illegal(xerbla_name, number, Int{});
  run({name, "column", count}, batch.a, batch);
}

template <class T, class Int>
void cblas_strided(const char* name, int order, const Arguments& requested, const Strided<T>& batch,
                   Int count) {
  if (!are_legal(order, requested)) return refuse<Int>(name, order, requested, "", Form::strided);
  const bool rows = order == kRowMajor;
  const auto is_refused = [&](int number, const char* argument, index_t got, index_t least) {
    if (got >= least) return false;
    char text[120];
    std::snprintf(text, sizeof text, "argument %d (%s) is %lld, expected at least %lld", number,
                  argument, static_cast<long long>(got), static_cast<long long>(least));
    illegal_c(number, name, text, Int{});
    return true;
  };
  if (is_refused(10, "stridea", rows ? batch.step_b : batch.step_a, 0) ||
      is_refused(13, "strideb", rows ? batch.step_a : batch.step_b, 0) ||
      is_refused(18, "batch_size", count, 0) ||
      is_refused(17, "stridec", batch.step_c, least_step_c(batch.a, count)))
    return;
  run({name, rows ? "row" : "column", count}, requested, batch);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_FORTRAN_STRIDED(name, xerbla_name, T, Int)                                         \
  TESSERA_EXPORT name(const char* trans_a, const char* trans_b, const Int* m, const Int* n,        \
                      const Int* k, const T* alpha, const T* A, const Int* lda,                    \
                      const Int* stridea, const T* B, const Int* ldb, const Int* strideb,          \
                      const T* beta, T* C, const Int* ldc, const Int* stridec,                     \
                      const Int* batch_size) {                                                     \
    const Arguments a{transpose_of(trans_a), transpose_of(trans_b), *m, *n, *k, *lda, *ldb, *ldc}; \
    fortran_strided<T, Int>(#name, xerbla_name,                                                    \
                            {a, *alpha, A, *stridea, B, *strideb, *beta, C, *stridec},             \
                            *batch_size);                                                          \
  }
#define TESSERA_CBLAS_STRIDED(name, T, Int, Scalar, value)                                    \
  TESSERA_EXPORT name(int order, int trans_a, int trans_b, Int m, Int n, Int k, Scalar alpha, \
                      const T* A, Int lda, Int stridea, const T* B, Int ldb, Int strideb,     \
                      Scalar beta, T* C, Int ldc, Int stridec, Int batch_size) {              \
    const Arguments a{transpose_of(trans_a), transpose_of(trans_b), m, n, k, lda, ldb, ldc};  \
    const bool rows = order == kRowMajor;                                                     \
    const Strided<T> batch{fortran_roles(order, a),                                           \
                           value(alpha),                                                      \
                           rows ? B : A,                                                      \
                           rows ? strideb : stridea,                                          \
                           rows ? A : B,                                                      \
                           rows ? stridea : strideb,                                          \
                           value(beta),                                                       \
                           C,                                                                 \
                           stridec};                                                          \
    cblas_strided<T, Int>(#name, order, a, batch, batch_size);                                \
  }
#define TESSERA_CBLAS_STRIDED_ALIAS(of, name, T, Int, Scalar)                                    \
  TESSERA_EXPORT_ALIAS(of)                                                                       \
  name(int, int, int, Int, Int, Int, Scalar, const T*, Int, Int, const T*, Int, Int, Scalar, T*, \
       Int, Int, Int);

#define TESSERA_TYPE(letter, capital, T, Scalar, value)                                         \
  TESSERA_FORTRAN_STRIDED(letter##gemm_batch_strided_, capital "GEMM_BATCH_STRIDED", T, int)    \
  TESSERA_FORTRAN_STRIDED(letter##gemm_batch_strided_64_, capital "GEMM_BATCH_STRIDED", T, i64) \
  TESSERA_CBLAS_STRIDED(cblas_##letter##gemm_batch_strided, T, int, Scalar, value)              \
  TESSERA_CBLAS_STRIDED(cblas_##letter##gemm_batch_strided_64, T, i64, Scalar, value)           \
  TESSERA_CBLAS_STRIDED_ALIAS(cblas_##letter##gemm_batch_strided_64,                            \
                              cblas_##letter##gemm_batch_strided64_, T, i64, Scalar)

TESSERA_TYPE(s, "S", float, float, +)
TESSERA_TYPE(d, "D", double, double, +)
TESSERA_TYPE(c, "C", c32, const c32*, *)
TESSERA_TYPE(z, "Z", c64, const c64*, *)
#undef TESSERA_TYPE
