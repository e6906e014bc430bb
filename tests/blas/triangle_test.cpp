// {s,d,c,z}gemmtr and gemmt under all their names: the triangle has the bits of a gemm, the other
// one is neither read nor written.
#include <algorithm>
#include <array>

#include "blas_calls.hpp"

#define TESSERA_TEST_FORTRAN_TRIANGLE(name, T, Int)                                               \
  void name(const char*, const char*, const char*, const Int*, const Int*, const T*, const T*,    \
            const Int*, const T*, const Int*, const T*, T*, const Int*, std::size_t, std::size_t, \
            std::size_t)
#define TESSERA_TEST_CBLAS_TRIANGLE(name, T, S, Int) \
  void name(int, int, int, int, Int, Int, S, const T*, Int, const T*, Int, S, T*, Int)
#define TESSERA_TEST_TRIANGLES(stem, T, S)                            \
  TESSERA_TEST_FORTRAN_TRIANGLE(stem##_, T, int);                     \
  TESSERA_TEST_FORTRAN_TRIANGLE(stem##_64_, T, std::int64_t);         \
  TESSERA_TEST_CBLAS_TRIANGLE(cblas_##stem, T, S, int);               \
  TESSERA_TEST_CBLAS_TRIANGLE(cblas_##stem##_64, T, S, std::int64_t); \
  TESSERA_TEST_CBLAS_TRIANGLE(cblas_##stem##64_, T, S, std::int64_t);

extern "C" {
TESSERA_TEST_TRIANGLES(sgemmtr, float, float)
TESSERA_TEST_TRIANGLES(sgemmt, float, float)
TESSERA_TEST_TRIANGLES(dgemmtr, double, double)
TESSERA_TEST_TRIANGLES(dgemmt, double, double)
TESSERA_TEST_TRIANGLES(cgemmtr, tessera::testing::c32, const tessera::testing::c32*)
TESSERA_TEST_TRIANGLES(cgemmt, tessera::testing::c32, const tessera::testing::c32*)
TESSERA_TEST_TRIANGLES(zgemmtr, tessera::testing::c64, const tessera::testing::c64*)
TESSERA_TEST_TRIANGLES(zgemmt, tessera::testing::c64, const tessera::testing::c64*)
}

namespace tessera::testing {
namespace {

/// The ten names of a product with a triangle.
template <class T>
struct Triangles;
#define TESSERA_TEST_TRIANGLE_NAMES(x, T)                                                   \
  template <>                                                                               \
  struct Triangles<T> {                                                                     \
    static constexpr auto fortran = std::array{x##gemmtr_, x##gemmt_};                      \
    static constexpr auto fortran_64 = std::array{x##gemmtr_64_, x##gemmt_64_};             \
    static constexpr auto cblas = std::array{cblas_##x##gemmtr, cblas_##x##gemmt};          \
    static constexpr auto cblas_64 = std::array{cblas_##x##gemmtr_64, cblas_##x##gemmtr64_, \
                                                cblas_##x##gemmt_64, cblas_##x##gemmt64_};  \
  };
TESSERA_TEST_TRIANGLE_NAMES(s, float)
TESSERA_TEST_TRIANGLE_NAMES(d, double)
TESSERA_TEST_TRIANGLE_NAMES(c, c32)
TESSERA_TEST_TRIANGLE_NAMES(z, c64)

/// Runs `multiply` for a C of random numbers, or of NaN where beta is 0, and compares the triangle
/// with a gemm and all else with what it was.
template <class T, class Multiply>
void check_triangle(const Case& c, int uplo, T alpha, T beta, const Multiply& multiply) {
  std::mt19937_64 random(5);
  Stored<T> A = stored<T>(c.order, c.trans_a, c.M, c.K),
            B = stored<T>(c.order, c.trans_b, c.K, c.N), C = stored<T>(c.order, kNone, c.M, c.N);
  A.fill(random), B.fill(random);
  if (beta == T{0}) C.fill(T(std::numeric_limits<Real<T>>::quiet_NaN()));
  else C.fill(random);
  const Stored<T> before = C;
  Stored<T> full = C;
  call(Name::cblas, c, alpha, A, B, beta, full);
  multiply(A, B, C);
  int wrong = 0;
  for (index_t i = 0; i < c.M; ++i) {
    for (index_t j = 0; j < c.N; ++j) {
      const bool asked = uplo == kUpper ? i <= j : i >= j;
      wrong += !same(element(C, c.order, kNone, i, j),
                     element(asked ? full : before, c.order, kNone, i, j));
    }
  }
  EXPECT_EQ(wrong, 0) << text(c) << " uplo=" << uplo << " alpha=" << alpha << " beta=" << beta;
  EXPECT_TRUE(C.guards_hold()) << text(c);
}

template <class T>
class BlasTriangle : public ::testing::Test {};
using Types = ::testing::Types<float, double, c32, c64>;
TYPED_TEST_SUITE(BlasTriangle, Types);

TYPED_TEST(BlasTriangle, HasTheBitsOfAGemmAndLeavesTheOtherOneAlone) {
  using T = TypeParam;
  const T scalars[] = {T{0}, T{1}, T(Real<T>(0.7))};
  for (const index_t n : {0, 1, 2, 31, 32, 33, 63, 65, 100})
    for (const index_t k : {0, 1, 40})
      for (const int order : {kRow, kColumn})
        for (const int uplo : {kUpper, kLower})
          for (const T alpha : scalars)
            for (const T beta : scalars) {
              const Case c{order, n % 2 ? kTrans : kNone, k % 2 ? kConj : kNone, n, n, k};
              check_triangle<T>(c, uplo, alpha, beta, [&](auto& A, auto& B, auto& C) {
                Triangles<T>::cblas[0](order, uplo, c.trans_a, c.trans_b, static_cast<int>(n),
                                       static_cast<int>(k), scalar(alpha), A.data(), A.ld(),
                                       B.data(), B.ld(), scalar(beta), C.data(), C.ld());
              });
            }
}

/// In dot form, where the parts of a large triangle are thin enough for lanes, but the whole is
/// not.
TYPED_TEST(BlasTriangle, HasTheOrderOfSummationOfTheWhole) {
  using T = TypeParam;
  for (const int n : {1, 2, 16, 17, 31, 33, 40, 65})
    for (const int uplo : {kUpper, kLower})
      for (const int order : {kRow, kColumn}) {
        const int ta = order == kRow ? kNone : kTrans, tb = order == kRow ? kTrans : kNone, k = 600;
        const T one{1}, zero{0};
        check_triangle<T>(
            {order, ta, tb, n, n, k}, uplo, one, zero, [&](auto& A, auto& B, auto& C) {
              Triangles<T>::cblas[0](order, uplo, ta, tb, n, k, scalar(one), A.data(), A.ld(),
                                     B.data(), B.ld(), scalar(zero), C.data(), C.ld());
            });
      }
}

TYPED_TEST(BlasTriangle, EveryTranspositionByEveryName) {
  using T = TypeParam;
  const T alpha{2}, beta{3};
  for (const int ta : kEveryTrans)
    for (const int tb : kEveryTrans)
      for (const int uplo : {kUpper, kLower}) {
        const Case c{kColumn, ta, tb, 70, 70, 9};
        const auto fortran = [&](auto function, auto n, char side) {
          const decltype(n) k = 9;
          check_triangle<T>(c, uplo, alpha, beta, [&](auto& A, auto& B, auto& C) {
            const decltype(n) lda = A.ld(), ldb = B.ld(), ldc = C.ld();
            const char a = letter(ta), b = letter(tb);
            function(&side, &a, &b, &n, &k, &alpha, A.data(), &lda, B.data(), &ldb, &beta, C.data(),
                     &ldc, 1, 1, 1);
          });
        };
        for (const auto name : Triangles<T>::fortran) fortran(name, 70, uplo == kUpper ? 'U' : 'l');
        for (const auto name : Triangles<T>::fortran_64)
          fortran(name, std::int64_t{70}, uplo == kUpper ? 'u' : 'L');
        const auto cblas = [&](auto function) {
          check_triangle<T>(c, uplo, alpha, beta, [&](auto& A, auto& B, auto& C) {
            function(kColumn, uplo, ta, tb, 70, 9, scalar(alpha), A.data(), A.ld(), B.data(),
                     B.ld(), scalar(beta), C.data(), C.ld());
          });
        };
        for (const auto name : Triangles<T>::cblas) cblas(name);
        for (const auto name : Triangles<T>::cblas_64) cblas(name);
      }
}

}  // namespace
}  // namespace tessera::testing
