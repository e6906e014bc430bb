// {s,d,c,z}gemm_batch_ and cblas_{s,d,c,z}gemm_batch, as MKL defines them: groups of products of
// the same shape, transpositions and scalars; the matrices are given by pointers, the products one
// after the other in all groups. All arguments are checked before anything is computed.
#include "batch.hpp"

#include "export.hpp"

namespace tessera::blas {

namespace {

/// Letter: char in Fortran, int in C.
template <class T, class Int, class Letter>
struct Batch {
  int order;
  const Letter *trans_a, *trans_b;
  const Int *m, *n, *k;
  const T* alpha;
  const T* const* A;
  const Int* lda;
  const T* const* B;
  const Int* ldb;
  const T* beta;
  T* const* C;
  const Int* ldc;
  Int groups;
  const Int* size;

  static Transpose transpose(const char& letter) { return transpose_of(&letter); }
  static Transpose transpose(int number) { return transpose_of(number); }
  Arguments arguments(index_t g) const {
    return {transpose(trans_a[g]), transpose(trans_b[g]), m[g], n[g], k[g], lda[g], ldb[g], ldc[g]};
  }
};

/// Walks through the products of a batch.
template <class T, class Int, class Letter>
class Cursor {
 public:
  Cursor(const Batch<T, Int, Letter>& batch, int threads) : batch_(batch), threads_(threads) {}

  void operator()(index_t i) {
    const index_t before = group_;
    const auto here = product(i);
    if (!repeated_ || group_ != before) repeated_.emplace(here);
    (*repeated_)(here);
  }

  /// i may not decrease.
  Product<T> product(index_t i) {
    while (i - begin_ >= batch_.size[group_]) begin_ += batch_.size[group_++];
    const bool rows = batch_.order == kRowMajor;
    return product_of(fortran_roles(batch_.order, batch_.arguments(group_)), batch_.alpha[group_],
                      rows ? batch_.B[i] : batch_.A[i], rows ? batch_.A[i] : batch_.B[i],
                      batch_.beta[group_], batch_.C[i], threads_);
  }

 private:
  const Batch<T, Int, Letter>& batch_;
  const int threads_;
  std::optional<Repeated<T>> repeated_;  // of group_
  index_t group_ = 0, begin_ = 0;        // begin_: the first product of the group
};

template <class T, class Int, class Letter>
void run(const char* name, const Batch<T, Int, Letter>& batch) {
  index_t count = 0, work = 0;
  index_t first = 0;  // the group of the first product
  for (index_t g = 0; g < batch.groups; ++g) {
    if (count == 0 && batch.size[g] > 0) first = g;
    count += batch.size[g];
    work = std::min(kNeverDone, work + multiply_adds<T>(batch.arguments(g), batch.size[g]));
  }
  const auto body = [&] {
    run_products(count, work, [&](int threads) { return Cursor(batch, threads); });
  };
  if (!verbose()) return body();
  const Routine routine{name, batch.order == kRowMajor ? "row" : "column", count, batch.groups};
  if (batch.groups == 0) return run_reported(routine, {}, T{}, T{}, kNoProducts, body);
  run_reported(routine, batch.arguments(first), batch.alpha[first], batch.beta[first],
               count == 0 ? kNoProducts
                          : route_of_batch(Cursor(batch, thread_limit()).product(0), count, work),
               body);
}

template <class T, class Int>
void fortran_batch(const char* name, const char* xerbla_name, const Batch<T, Int, char>& batch) {
  if (batch.groups < 0) return illegal(xerbla_name, 14, Int{});
  for (index_t g = 0; g < batch.groups; ++g) {
    int number = first_illegal(batch.arguments(g));
    if (number == 0 && batch.size[g] < 0) number = 15;
    if (number != 0) return illegal(xerbla_name, number, Int{}, g + 1);
  }
  run(name, batch);
}

template <class T, class Int>
void cblas_batch(const char* name, const Batch<T, Int, int>& batch) {
  char text[120];
  if (batch.groups < 0) {
    std::snprintf(text, sizeof text, "argument 15 (group_count) is %lld, expected at least 0",
                  static_cast<long long>(batch.groups));
    return illegal_c(15, name, text, Int{});
  }
  if (batch.groups == 0 && batch.order != kRowMajor && batch.order != kColumnMajor)
    return refuse<Int>(name, batch.order, {}, "", Form::batch);
  for (index_t g = 0; g < batch.groups; ++g) {
    if (const Arguments a = batch.arguments(g); !are_legal(batch.order, a)) {
      std::snprintf(text, sizeof text, " of group %lld", static_cast<long long>(g));
      return refuse<Int>(name, batch.order, a, text, Form::batch);
    }
    if (batch.size[g] < 0) {
      std::snprintf(text, sizeof text,
                    "argument 16 (group_size) of group %lld is %lld, expected at least 0",
                    static_cast<long long>(g), static_cast<long long>(batch.size[g]));
      return illegal_c(16, name, text, Int{});
    }
  }
  run(name, batch);
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_FORTRAN_BATCH(name, xerbla_name, T, Int)                                         \
  TESSERA_EXPORT name(const char* trans_a, const char* trans_b, const Int* m, const Int* n,      \
                      const Int* k, const T* alpha, const T* const* A, const Int* lda,           \
                      const T* const* B, const Int* ldb, const T* beta, T* const* C,             \
                      const Int* ldc, const Int* group_count, const Int* group_size) {           \
    fortran_batch<T, Int>(#name, xerbla_name,                                                    \
                          {kColumnMajor, trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, \
                           C, ldc, *group_count, group_size});                                   \
  }
#define TESSERA_CBLAS_BATCH(name, T, Int)                                                         \
  TESSERA_EXPORT name(int order, const int* trans_a, const int* trans_b, const Int* m,            \
                      const Int* n, const Int* k, const T* alpha, const T* const* A,              \
                      const Int* lda, const T* const* B, const Int* ldb, const T* beta,           \
                      T* const* C, const Int* ldc, Int group_count, const Int* group_size) {      \
    cblas_batch<T, Int>(#name, {order, trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C, \
                                ldc, group_count, group_size});                                   \
  }
#define TESSERA_CBLAS_BATCH_ALIAS(of, name, T, Int)                                                \
  TESSERA_EXPORT_ALIAS(of)                                                                         \
  name(int, const int*, const int*, const Int*, const Int*, const Int*, const T*, const T* const*, \
       const Int*, const T* const*, const Int*, const T*, T* const*, const Int*, Int, const Int*);

#define TESSERA_TYPE(letter, capital, T)                                      \
  TESSERA_FORTRAN_BATCH(letter##gemm_batch_, capital "GEMM_BATCH", T, int)    \
  TESSERA_FORTRAN_BATCH(letter##gemm_batch_64_, capital "GEMM_BATCH", T, i64) \
  TESSERA_CBLAS_BATCH(cblas_##letter##gemm_batch, T, int)                     \
  TESSERA_CBLAS_BATCH(cblas_##letter##gemm_batch_64, T, i64)                  \
  TESSERA_CBLAS_BATCH_ALIAS(cblas_##letter##gemm_batch_64, cblas_##letter##gemm_batch64_, T, i64)

TESSERA_TYPE(s, "S", float)
TESSERA_TYPE(d, "D", double)
TESSERA_TYPE(c, "C", c32)
TESSERA_TYPE(z, "Z", c64)
#undef TESSERA_TYPE
