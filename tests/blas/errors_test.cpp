// Illegal arguments: the numbers are those of the reference BLAS, the program's own xerbla_ is
// called with them, and C stays as it was.
// Over 400 lines: every test reads what the handlers, one set for the whole program, received.
#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>

#include "blas_calls.hpp"

namespace {

struct Report {
  std::string name;
  long long number = 0;
  std::string text;
};
std::vector<Report> reports;

}  // namespace

// The program's own handlers, as users write them.
extern "C" {
void xerbla_(const char* name, const int* number, std::size_t length);
void xerbla_64_(const char* name, const std::int64_t* number, std::size_t length);
void cblas_xerbla(int number, const char* name, const char* form, ...);
void cblas_xerbla_64(std::int64_t number, const char* name, const char* form, ...);

void xerbla_(const char* name, const int* number, std::size_t length) {
  reports.push_back({std::string(name, length), *number, ""});
}
void xerbla_64_(const char* name, const std::int64_t* number, std::size_t length) {
  reports.push_back({std::string(name, length), *number, "64"});
}
void cblas_xerbla(int number, const char* name, const char* form, ...) {
  char text[200];
  va_list values;
  va_start(values, form);
  std::vsnprintf(text, sizeof text, form, values);
  va_end(values);
  reports.push_back({name, number, text});
}
void cblas_xerbla_64(std::int64_t number, const char* name, const char* form, ...) {
  char text[200];
  va_list values;
  va_start(values, form);
  std::vsnprintf(text, sizeof text, form, values);
  va_end(values);
  reports.push_back({name, number, text});
}

void cblas_sbgemm(int, int, int, int, int, int, float, const void*, int, const void*, int, float,
                  float*, int);
void cblas_gemm_s8u8s32(int, int, int, int, int, int, int, float, const void*, int, std::int8_t,
                        const void*, int, std::int8_t, float, std::int32_t*, int,
                        const std::int32_t*);
void cblas_dsyrk(int, int, int, int, int, double, const double*, int, double, double*, int);
void cblas_dtrsm(int, int, int, int, int, int, int, double, const double*, int, double*, int);

#define TESSERA_TEST_FORTRAN_STRIDED(name, T, Int)                                              \
  void name(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*,   \
            const Int*, const Int*, const T*, const Int*, const Int*, const T*, T*, const Int*, \
            const Int*, const Int*);
#define TESSERA_TEST_STRIDED_NAMES(x, T, E, S)                                                   \
  TESSERA_TEST_FORTRAN_STRIDED(x##gemm_batch_strided_, tessera::testing::T, int)                 \
  TESSERA_TEST_FORTRAN_STRIDED(x##gemm_batch_strided_64_, tessera::testing::T, std::int64_t)     \
  void cblas_##x##gemm_batch_strided64_(int, int, int, std::int64_t, std::int64_t, std::int64_t, \
                                        S, const E*, std::int64_t, std::int64_t, const E*,       \
                                        std::int64_t, std::int64_t, S, E*, std::int64_t,         \
                                        std::int64_t, std::int64_t);
void dgemmtr_(const char*, const char*, const char*, const int*, const int*, const double*,
              const double*, const int*, const double*, const int*, const double*, double*,
              const int*);
void dgemmt_64_(const char*, const char*, const char*, const std::int64_t*, const std::int64_t*,
                const double*, const double*, const std::int64_t*, const double*,
                const std::int64_t*, const double*, double*, const std::int64_t*);
void cblas_dgemmtr(int, int, int, int, int, int, double, const double*, int, const double*, int,
                   double, double*, int);
TESSERA_TEST_STRIDED_NAMES(s, f32, float, float)
TESSERA_TEST_STRIDED_NAMES(d, f64, double, double)
TESSERA_TEST_STRIDED_NAMES(c, c32, void, const void*)
TESSERA_TEST_STRIDED_NAMES(z, c64, void, const void*)
}

namespace tessera::testing {
namespace {

Report only_report() {
  EXPECT_EQ(reports.size(), 1u);
  const Report out = reports.empty() ? Report{} : reports[0];
  reports.clear();
  return out;
}

constexpr int kBad = -7;

struct Call {
  char ta, tb;
  int m, n, k, lda, ldb, ldc;
};
void dgemm(const Call& c, double* C) {
  const double one = 1, zero = 0, A[64] = {}, B[64] = {};
  dgemm_(&c.ta, &c.tb, &c.m, &c.n, &c.k, &one, A, &c.lda, B, &c.ldb, &zero, C, &c.ldc, 1, 1);
}

TEST(BlasErrors, EachArgumentHasItsNumberAndCIsLeftAlone) {
  const struct {
    Call call;
    int number;
  } cases[] = {{{'/', 'N', 2, 2, 2, 2, 2, 2}, 1},  {{'N', '/', 2, 2, 2, 2, 2, 2}, 2},
               {{'N', 'N', -1, 2, 2, 2, 2, 2}, 3}, {{'N', 'N', 2, -1, 2, 2, 2, 2}, 4},
               {{'N', 'N', 2, 2, -1, 2, 2, 2}, 5}, {{'N', 'N', 2, 2, 2, 1, 2, 2}, 8},
               {{'T', 'N', 2, 2, 3, 2, 3, 2}, 8},  {{'N', 'N', 2, 2, 3, 2, 2, 2}, 10},
               {{'N', 'T', 2, 3, 2, 2, 2, 2}, 10}, {{'N', 'N', 2, 2, 2, 2, 2, 1}, 13},
               {{'N', 'N', 0, 0, 0, 0, 1, 1}, 8},  {{'N', 'N', 0, 0, 0, 1, 0, 1}, 10},
               {{'N', 'N', 0, 0, 0, 1, 1, 0}, 13}, {{'/', '/', -1, -1, -1, 0, 0, 0}, 1},
               {{'c', 'n', 2, 2, 4, 2, 4, 2}, 8}};
  for (const auto& each : cases) {
    double C[4] = {1, 2, 3, 4};
    dgemm(each.call, C);
    const Report report = only_report();
    EXPECT_EQ(report.number, each.number);
    EXPECT_EQ(report.name, "DGEMM ");
    EXPECT_TRUE(C[0] == 1 && C[1] == 2 && C[2] == 3 && C[3] == 4);
  }
}

TEST(BlasErrors, LegalCallsReportNothing) {
  double C[4] = {};
  dgemm({'N', 'N', 0, 2, 2, 1, 2, 1}, C);
  dgemm({'T', 'c', 2, 2, 0, 1, 2, 2}, C);
  EXPECT_TRUE(reports.empty());
}

TEST(BlasErrors, OtherProductsTellTheArgumentInWords) {
  float c = 7;
  double A[4] = {}, d[4] = {7, 7, 7, 7};
  std::int32_t sum = 7;
  const std::int32_t co = 0;
  const std::uint8_t byte = 1;
  const auto bytes = [&](int order, int offset, int m, int n) {
    cblas_gemm_s8u8s32(order, kNone, kNone, offset, m, n, 1, 1, &byte, 1, 0, &byte, 1, 0, 0, &sum,
                       2, &co);
  };
  const auto said = [](int number, const char* name, const char* text) {
    const Report report = only_report();
    EXPECT_EQ(report.number, number) << text;
    EXPECT_EQ(report.name, name);
    EXPECT_EQ(report.text, std::string(text) + "\n");
  };
  cblas_sbgemm(kRow, kNone, kNone, 1, 1, 2, 1, &byte, 1, &byte, 1, 0, &c, 1);
  said(11, "cblas_sbgemm", "argument 9 (lda) is 1, expected at least 2");
  bytes(kRow, 170, 1, 1);
  said(4, "cblas_gemm_s8u8s32",
       "argument 4 (offsetc) is 170, expected 171 (row), 172 (column) or 173 (fixed)");
  bytes(kColumn, 173, 2, 1);
  said(10, "cblas_gemm_s8u8s32", "argument 10 (lda) is 1, expected at least 2");
  bytes(kColumn, 173, 1, -1);
  said(6, "cblas_gemm_s8u8s32", "argument 6 (N) is -1, expected at least 0");
  cblas_dsyrk(kRow, 0, kNone, 2, 2, 1, A, 2, 0, d, 2);
  said(2, "cblas_dsyrk", "argument 2 (uplo) is 0, expected 121 (upper) or 122 (lower)");
  cblas_dsyrk(kColumn, kUpper, kOnlyConj, 2, 2, 1, A, 2, 0, d, 2);
  said(3, "cblas_dsyrk", "argument 3 (trans) is 114, expected 111, 112 or 113");
  cblas_dsyrk(kRow, kUpper, kNone, 2, 3, 1, A, 2, 0, d, 2);
  said(8, "cblas_dsyrk", "argument 8 (lda) is 2, expected at least 3");
  // By rows netlib numbers the call that it makes of it: M and N exchanged.
  cblas_dtrsm(kRow, 141, kUpper, kNone, 131, -2, 1, 1, A, 2, d, 2);
  said(7, "cblas_dtrsm", "argument 6 (M) is -2, expected at least 0");
  cblas_dtrsm(kColumn, 140, kUpper, kNone, 131, 2, 1, 1, A, 2, d, 2);
  said(2, "cblas_dtrsm", "argument 2 (side) is 140, expected 141 (left) or 142 (right)");
  cblas_dtrsm(kColumn, 142, kUpper, kNone, 131, 2, 1, 1, A, 1, d, 1);
  said(12, "cblas_dtrsm", "argument 12 (ldb) is 1, expected at least 2");
  EXPECT_EQ(c, 7);
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(d[0], 7);
}

TEST(BlasErrors, CblasTellsTheArgumentInWords) {
  double A[16] = {}, B[16] = {}, C[16] = {};
  cblas_dgemm(kColumn, kNone, kNone, 2, 2, 2, 1, A, 1, B, 2, 0, C, 2);
  Report report = only_report();
  EXPECT_EQ(report.number, 9);
  EXPECT_EQ(report.name, "cblas_dgemm");
  EXPECT_EQ(report.text, "argument 9 (lda) is 1, expected at least 2\n");
  // By rows netlib numbers the call that it makes of it: A and B, M and N exchanged.
  cblas_dgemm(kRow, kNone, kNone, 2, 3, 2, 1, A, 1, B, 3, 0, C, 3);
  report = only_report();
  EXPECT_EQ(report.number, 11);
  EXPECT_EQ(report.text, "argument 9 (lda) is 1, expected at least 2\n");
  cblas_dgemm(kRow, kNone, kNone, 2, -3, 2, 1, A, 2, B, 3, 0, C, 3);
  report = only_report();
  EXPECT_EQ(report.number, 4);
  EXPECT_EQ(report.text, "argument 5 (N) is -3, expected at least 0\n");
  cblas_dgemm(kBad, kNone, kNone, 2, 2, 2, 1, A, 2, B, 2, 0, C, 2);
  EXPECT_EQ(only_report().number, 1);
  cblas_dgemm(kRow, kBad, kNone, 2, 2, 2, 1, A, 2, B, 2, 0, C, 2);
  EXPECT_EQ(only_report().number, 2);
  cblas_dgemm(kColumn, kNone, kBad, 2, 2, 2, 1, A, 2, B, 2, 0, C, 2);
  report = only_report();
  EXPECT_EQ(report.number, 3);
  EXPECT_EQ(report.text, "argument 3 (transB) is -7, expected 111, 112, 113 or 114\n");
}

TEST(BlasErrors, TheNamesWith64BitIntegersHaveTheirOwnHandler) {
  const std::int64_t bad = std::int64_t{-1} << 40, one = 1;
  const double x = 1;
  double C[1] = {5};
  dgemm_64_("N", "N", &bad, &one, &one, &x, &x, &one, &x, &one, &x, C, &one, 1, 1);
  const Report report = only_report();
  EXPECT_EQ(report.number, 3);
  EXPECT_EQ(report.text, "64");
  EXPECT_EQ(C[0], 5);
}

TEST(BlasErrors, OfATriangleTheSideOfCComesFirst) {
  const struct {
    char uplo;
    Call call;
    int number;
  } cases[] = {{'/', {'/', 'N', 2, 2, 2, 2, 2, 2}, 1},  {'U', {'/', 'N', 2, 2, 2, 2, 2, 2}, 2},
               {'l', {'N', '/', 2, 2, 2, 2, 2, 2}, 3},  {'L', {'N', 'N', -1, -1, -1, 2, 2, 2}, 4},
               {'u', {'N', 'N', 2, 2, -1, 2, 2, 2}, 5}, {'U', {'N', 'N', 2, 2, 3, 1, 3, 2}, 8},
               {'U', {'T', 'N', 2, 2, 3, 2, 3, 2}, 8},  {'U', {'N', 'N', 2, 2, 3, 2, 2, 2}, 10},
               {'U', {'N', 'T', 2, 2, 3, 2, 1, 2}, 10}, {'U', {'N', 'N', 2, 2, 2, 2, 2, 1}, 13}};
  const double one = 1, A[16] = {}, B[16] = {};
  for (const auto& [uplo, c, number] : cases) {
    double C[4] = {1, 2, 3, 4};
    dgemmtr_(&uplo, &c.ta, &c.tb, &c.n, &c.k, &one, A, &c.lda, B, &c.ldb, &one, C, &c.ldc);
    Report report = only_report();
    EXPECT_EQ(report.number, number);
    EXPECT_EQ(report.name, "DGEMMTR");
    const std::int64_t n = c.n, k = c.k, lda = c.lda, ldb = c.ldb, ldc = c.ldc;
    dgemmt_64_(&uplo, &c.ta, &c.tb, &n, &k, &one, A, &lda, B, &ldb, &one, C, &ldc);
    report = only_report();
    EXPECT_EQ(report.number, number);
    EXPECT_EQ(report.name, "DGEMMT ");
    EXPECT_TRUE(C[0] == 1 && C[1] == 2 && C[2] == 3 && C[3] == 4);
  }
  double C[4] = {};
  const auto expect = [&](int order, int uplo, int ta, int tb, int n, int k, int lda, int ldb,
                          int ldc, int number, const std::string& text) {
    cblas_dgemmtr(order, uplo, ta, tb, n, k, 1, A, lda, B, ldb, 1, C, ldc);
    const Report report = only_report();
    EXPECT_EQ(report.number, number);
    EXPECT_EQ(report.text, "argument " + text + "\n");
  };
  constexpr int kUpper = 121;
  expect(kBad, kBad, kNone, kNone, 2, 2, 2, 2, 2, 1,
         "1 (order) is -7, expected 101 (row) or 102 (column)");
  expect(kRow, kBad, kBad, kNone, 2, 2, 2, 2, 2, 2,
         "2 (uplo) is -7, expected 121 (upper) or 122 (lower)");
  expect(kRow, kUpper, kBad, kNone, 2, 2, 2, 2, 2, 3,
         "3 (transA) is -7, expected 111, 112, 113 or 114");
  expect(kRow, kUpper, kNone, kBad, 2, 2, 2, 2, 2, 4,
         "4 (transB) is -7, expected 111, 112, 113 or 114");
  for (const int order : {kRow, kColumn}) {
    const bool rows = order == kRow;
    expect(order, kUpper, kNone, kNone, -2, 2, 2, 2, 2, 5, "5 (N) is -2, expected at least 0");
    expect(order, kUpper, kNone, kNone, 2, -2, 2, 2, 2, 6, "6 (K) is -2, expected at least 0");
    // By rows the reference's numbers are those of the call that it makes of it.
    expect(order, kUpper, kNone, kNone, 2, 2, 1, 2, 2, rows ? 11 : 9,
           "9 (lda) is 1, expected at least 2");
    expect(order, kUpper, kNone, kNone, 2, 2, 2, 1, 2, rows ? 9 : 11,
           "11 (ldb) is 1, expected at least 2");
    expect(order, kUpper, kNone, kNone, 2, 2, 2, 2, 1, 14, "14 (ldc) is 1, expected at least 2");
  }
}

/// The five names of a strided product.
template <class T>
struct StridedNames;
#define TESSERA_TEST_STRIDED(x, T)                                     \
  template <>                                                          \
  struct StridedNames<T> {                                             \
    static constexpr auto fortran = x##gemm_batch_strided_;            \
    static constexpr auto fortran_64 = x##gemm_batch_strided_64_;      \
    static constexpr auto cblas = cblas_##x##gemm_batch_strided;       \
    static constexpr auto cblas_64 = cblas_##x##gemm_batch_strided_64; \
    static constexpr auto cblas64_ = cblas_##x##gemm_batch_strided64_; \
  };
TESSERA_TEST_STRIDED(s, float)
TESSERA_TEST_STRIDED(d, double)
TESSERA_TEST_STRIDED(c, c32)
TESSERA_TEST_STRIDED(z, c64)

template <class T>
class BlasStrides : public ::testing::Test {};
using AllTypes = ::testing::Types<float, double, c32, c64>;
TYPED_TEST_SUITE(BlasStrides, AllTypes);

TYPED_TEST(BlasStrides, OfAAndBAreAtLeastZeroByEveryName) {
  using T = TypeParam;
  using Names = StridedNames<T>;
  const T A[8] = {}, B[8] = {}, one{1}, kept{5};
  T C[8];
  std::fill(C, C + 8, kept);
  const auto expect = [&](int number, const std::string& text) {
    const Report report = only_report();
    EXPECT_EQ(report.number, number);
    EXPECT_EQ(report.text, text);
    EXPECT_EQ(std::count(C, C + 8, kept), 8);
  };
  const auto fortran = [&](auto function, auto stride_a, auto stride_b) {
    using Int = decltype(stride_a);
    const Int n = 2, stride_c = 4, count = 2;
    function("N", "N", &n, &n, &n, &one, A + 4, &n, &stride_a, B + 4, &n, &stride_b, &one, C, &n,
             &stride_c, &count);
  };
  fortran(Names::fortran, -1, -1), expect(9, "");
  fortran(Names::fortran, 0, -4), expect(12, "");
  fortran(Names::fortran_64, std::int64_t{-1}, std::int64_t{0}), expect(9, "64");
  fortran(Names::fortran_64, std::int64_t{0}, std::int64_t{-1} << 40), expect(12, "64");
  for (const int order : {kRow, kColumn}) {
    const auto cblas = [&](auto function, int stride_a, int stride_b, int count = 2) {
      function(order, kNone, kNone, 2, 2, 2, scalar(one), A + 4, 2, stride_a, B + 4, 2, stride_b,
               scalar(one), C, 2, 4, count);
    };
    const std::string a = "argument 10 (stridea) is -1, expected at least 0\n",
                      b = "argument 13 (strideb) is -4, expected at least 0\n";
    cblas(Names::cblas, -1, -4), expect(10, a);
    cblas(Names::cblas, 0, -4), expect(13, b);
    cblas(Names::cblas, -1, 0, 0), expect(10, a);  // as a leading dimension, of no product too
    cblas(Names::cblas_64, -1, 4), expect(10, a);
    cblas(Names::cblas_64, 4, -4), expect(13, b);
    cblas(Names::cblas64_, -1, 4), expect(10, a);
    cblas(Names::cblas64_, 4, -4), expect(13, b);
  }
}

TEST(BlasErrors, NoDistanceIsAsLargeAsAMatrixBeyondAllNumbers) {
  const double A[4] = {}, one = 1;
  double C[4] = {5, 5, 5, 5};
  const std::int64_t n = 3, k = 1, ldc = std::int64_t{1} << 62, none = 0, count = 2;
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{4}, std::int64_t{1} << 62}) {
    dgemm_batch_strided_64_("N", "N", &n, &n, &k, &one, A, &n, &none, A, &k, &none, &one, C, &ldc,
                            &step, &count);
    EXPECT_EQ(only_report().number, 16);
    cblas_dgemm_batch_strided_64(kColumn, kNone, kNone, n, n, k, 1, A, n, 0, A, k, 0, 1, C, ldc,
                                 step, count);
    const Report report = only_report();
    EXPECT_EQ(report.number, 17);
    EXPECT_EQ(report.text, "argument 17 (stridec) is " + std::to_string(step) +
                               ", expected at least 9223372036854775807\n");
  }
  EXPECT_EQ(C[0], 5);
}

TEST(BlasErrors, WhatIsNotReadMayHaveAnyDistance) {
  const std::int64_t far = std::numeric_limits<std::int64_t>::max() / 2;
  double A[1] = {3}, C[3] = {1, 2, 3};
  cblas_dgemm_batch_strided_64(kColumn, kNone, kNone, 1, 1, 0, 1, A, 1, far, A, 1, far, 2, C, 1, 1,
                               3);
  cblas_dgemm_batch_strided_64(kColumn, kNone, kNone, 1, 1, 1, 0, A, 1, far, A, 1, far, 2, C, 1, 1,
                               3);
  EXPECT_TRUE(reports.empty());
  EXPECT_TRUE(C[0] == 4 && C[1] == 8 && C[2] == 12);
}

TEST(BlasErrors, ABatchIsCheckedBeforeItBegins) {
  const double A[4] = {1, 1, 1, 1};
  double C[4] = {5, 5, 5, 5};
  const double* a[] = {A, A};
  double* c[] = {C, C};
  const double one[] = {1, 1};
  const int trans[] = {kNone, kNone}, n[] = {2, 2}, bad_ld[] = {2, 1}, sizes[] = {1, -1};
  const auto batch = [&](const int* lda, int groups, const int* size) {
    cblas_dgemm_batch(kColumn, trans, trans, n, n, n, one, a, lda, a, n, one, c, n, groups, size);
    return only_report();
  };
  const int good_sizes[] = {1, 1};
  Report report = batch(bad_ld, 2, good_sizes);
  EXPECT_EQ(report.number, 9);
  EXPECT_EQ(report.text, "argument 9 (lda) of group 1 is 1, expected at least 2\n");
  EXPECT_EQ(batch(n, 2, sizes).number, 16);
  EXPECT_EQ(batch(n, -1, sizes).number, 15);
  cblas_dgemm_batch_strided(kColumn, kNone, kNone, 2, 2, 2, 1, A, 2, 0, A, 1, 0, 0, C, 2, 4, 2);
  report = only_report();
  EXPECT_EQ(report.number, 12);
  EXPECT_EQ(report.text, "argument 12 (ldb) is 1, expected at least 2\n");
  cblas_dgemm_batch_strided(kRow, kNone, kNone, 2, 2, 2, 1, A, 1, 0, A, 2, 0, 0, C, 2, 4, 2);
  report = only_report();
  EXPECT_EQ(report.number, 9);
  EXPECT_EQ(report.text, "argument 9 (lda) is 1, expected at least 2\n");
  cblas_dgemm_batch_strided(kColumn, kNone, kNone, 2, 2, 2, 1, A, 2, 0, A, 2, 0, 0, C, 2, 3, 2);
  report = only_report();
  EXPECT_EQ(report.number, 17);
  EXPECT_EQ(report.text, "argument 17 (stridec) is 3, expected at least 4\n");
  cblas_dgemm_batch_strided(kColumn, kNone, kNone, 2, 2, 2, 1, A, 2, 0, A, 2, 0, 0, C, 2, 4, -1);
  EXPECT_EQ(only_report().number, 18);
  EXPECT_EQ(C[0], 5);
}

/// The reference BLAS as an oracle: it calls the same handlers.
class Reference : public ::testing::Test {
 protected:
  void SetUp() override {
    handle_ = dlopen(TESSERA_REFERENCE_BLAS, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr)
      GTEST_SKIP()
          << "error numbers are NOT compared with the reference BLAS: no " TESSERA_REFERENCE_BLAS
             " (Debian: libblas3)";
  }
  template <class F>
  F* function(const char* name, F*) {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }
  void* handle_ = nullptr;
};

TEST_F(Reference, GivesTheSameNumbersForThousandsOfCalls) {
  auto* const theirs = function("zgemm_", zgemm_);
  auto* const theirs_c = function("cblas_zgemm", cblas_zgemm);
  ASSERT_TRUE(theirs != nullptr && theirs_c != nullptr);
  std::mt19937 random(11);
  const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  const int sizes[] = {-1, 0, 1, 2, 3}, lds[] = {-1, 0, 1, 2, 3, 4};
  const std::string letters = "NntTcC/";
  const int numbers[] = {kNone, kTrans, kConj, kBad};
  const c64 one{1}, zero{0}, A[64] = {}, B[64] = {};
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const int m = pick(sizes), n = pick(sizes), k = pick(sizes), lda = pick(lds), ldb = pick(lds),
              ldc = pick(lds);
    const char ta = pick(letters), tb = pick(letters);
    c64 C[64] = {};
    theirs(&ta, &tb, &m, &n, &k, &one, A, &lda, B, &ldb, &zero, C, &ldc, 1, 1);
    const long long expected = reports.empty() ? 0 : only_report().number;
    zgemm_(&ta, &tb, &m, &n, &k, &one, A, &lda, B, &ldb, &zero, C, &ldc, 1, 1);
    ASSERT_EQ(reports.empty() ? 0 : only_report().number, expected)
        << ta << tb << " " << m << " " << n << " " << k << " " << lda << " " << ldb << " " << ldc;
    refused += expected != 0;

    // The reference CBLAS adds one to what its Fortran call reports; that goes to xerbla_ here.
    const int order = random() % 2 ? kRow : kColumn, ca = pick(numbers), cb = pick(numbers);
    theirs_c(order, ca, cb, m, n, k, &one, A, lda, B, ldb, &zero, C, ldc);
    long long expected_c = 0;
    if (!reports.empty()) {
      const Report report = only_report();
      expected_c = report.number + (report.name.substr(0, 5) == "ZGEMM" ? 1 : 0);
      if (order == kRow && ca != kBad && cb == kBad) expected_c = 3;  // the reference says 2
    }
    cblas_zgemm(order, ca, cb, m, n, k, &one, A, lda, B, ldb, &zero, C, ldc);
    ASSERT_EQ(reports.empty() ? 0 : only_report().number, expected_c)
        << order << " " << ca << " " << cb << " " << m << " " << n << " " << k << " " << lda << " "
        << ldb << " " << ldc;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tessera::testing
