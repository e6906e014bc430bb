// sgemm, dgemm, cgemm, zgemm under all their names: every element to the last bit, what must not be
// read is not read, what must not be written is not written.
#include <sys/mman.h>

#include <algorithm>
#include <cfenv>

#include "blas_calls.hpp"
#include "support/guard_pages.hpp"

namespace tessera::testing {
namespace {

template <class T>
class BlasGemm : public ::testing::Test {};
using Types = ::testing::Types<float, double, c32, c64>;
TYPED_TEST_SUITE(BlasGemm, Types);

template <class T>
std::vector<T> scalars() {
  if constexpr (is_complex<T>) return {T{0}, T{1}, T{-1}, T(Real<T>(0.7), Real<T>(-0.9))};
  else return {T{0}, T{1}, T{-1}, T(0.7)};
}

TYPED_TEST(BlasGemm, EveryTranspositionAndOrderHasTheDefinedBits) {
  using T = TypeParam;
  for (const int order : {kRow, kColumn})
    for (const int ta : kEveryTrans)
      for (const int tb : kEveryTrans)
        for (const Case& c : {Case{order, ta, tb, 5, 7, 3}, Case{order, ta, tb, 33, 18, 49},
                              Case{order, ta, tb, 70, 41, 130}})
          for (const Name name : {Name::fortran, Name::cblas}) check<T>(name, c, T{1}, T{0});
}

TYPED_TEST(BlasGemm, EveryAlphaAndBeta) {
  using T = TypeParam;
  for (const int order : {kRow, kColumn})
    for (const T alpha : scalars<T>())
      for (const T beta : scalars<T>()) {
        check<T>(Name::cblas, {order, kNone, kTrans, 9, 20, 11}, alpha, beta);
        check<T>(Name::fortran, {order, kConj, kNone, 40, 3, 17}, alpha, beta);
      }
}

TYPED_TEST(BlasGemm, SmallShapesAndLongTails) {
  using T = TypeParam;
  for (const index_t m : {0, 1, 2, 8, 9, 17})
    for (const index_t n : {0, 1, 3, 16, 33, 49})
      for (const index_t k : {0, 1, 2, 7, 129, 300})
        check<T>(Name::cblas, {kRow, kNone, kNone, m, n, k}, T{1}, m % 2 ? T{1} : T{0});
}

TYPED_TEST(BlasGemm, FewOutputsAndALongK) {
  using T = TypeParam;
  for (const int ta : {kNone, kTrans})
    for (const int tb : {kNone, kTrans})
      for (const index_t m : {1, 4, 8, 9})
        for (const index_t n : {1, 3, 8, 9})
          for (const index_t k : {48, 49, 256, 257})
            check<T>(Name::fortran, {kColumn, ta, tb, m, n, k}, T{1}, n == 3 ? T{1} : T{0});
}

TYPED_TEST(BlasGemm, LargeProductsOnSeveralThreads) {
  using T = TypeParam;
  for (const Case& c :
       {Case{kColumn, kNone, kNone, 300, 310, 520}, Case{kRow, kTrans, kConj, 270, 290, 700},
        Case{kColumn, kTrans, kNone, 600, 4, 900}, Case{kRow, kNone, kTrans, 3, 700, 1100},
        Case{kColumn, kOnlyConj, kConj, 260, 280, 500}})
    check<T>(Name::cblas, c, T{1}, T{0});
  check<T>(Name::fortran, {kColumn, kNone, kConj, 512, 3, 1024}, scalars<T>()[3], scalars<T>()[3]);
  check<T>(Name::cblas, {kRow, kNone, kTrans, 70, 66, 33'000}, T{1}, T{1});
}

TYPED_TEST(BlasGemm, NamesWith64BitIntegers) {
  using T = TypeParam;
  for (const Name name : {Name::fortran_64, Name::cblas_64, Name::cblas64_})
    check<T>(name, {kColumn, kTrans, kNone, 6, 5, 4}, T{1}, T{1});
}

TYPED_TEST(BlasGemm, AnyCaseOfTheLetters) {
  using T = TypeParam;
  const int n = 3;
  const T alpha{1}, beta{0};
  for (const char* letters : {"nN", "tT", "cC"}) {
    T lower[9], upper[9], a[9], b[9];
    std::mt19937_64 random(3);
    for (T& x : a) x = Stored<T>::number(random);
    for (T& x : b) x = Stored<T>::number(random);
    Blas<T>::fortran(&letters[0], &letters[0], &n, &n, &n, &alpha, a, &n, b, &n, &beta, lower, &n,
                     1, 1);
    Blas<T>::fortran(&letters[1], &letters[1], &n, &n, &n, &alpha, a, &n, b, &n, &beta, upper, &n,
                     1, 1);
    EXPECT_EQ(std::memcmp(lower, upper, sizeof lower), 0) << letters;
  }
}

TYPED_TEST(BlasGemm, BetaZeroForgetsNan) {
  using T = TypeParam;
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const index_t k : {0, 3, 200}) {
    Stored<T> A(4, k, 0), B(k, 4, 1), C(4, 4, 2);
    A.fill(T{1}), B.fill(T{1}), C.fill(nan);
    call<T>(Name::fortran, {kColumn, kNone, kNone, 4, 4, k}, T{1}, A, B, T{0}, C);
    for (index_t j = 0; j < 4; ++j)
      for (index_t i = 0; i < 4; ++i) EXPECT_EQ(C.at(i, j), T(Real<T>(k)));
  }
}

TYPED_TEST(BlasGemm, AlphaZeroReadsNeitherFactor) {
  using T = TypeParam;
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  Stored<T> A(4, 5, 0), B(5, 4, 1), C(4, 4, 2);
  A.fill(nan), B.fill(nan), C.fill(T{2});
  const Case c{kColumn, kNone, kNone, 4, 4, 5};
  call<T>(Name::fortran, c, T{0}, A, B, T{3}, C);
  EXPECT_EQ(C.at(3, 3), T{6});
  call<T>(Name::fortran, c, T{0}, A, B, T{1}, C);
  EXPECT_EQ(C.at(0, 2), T{6});
  call<T>(Name::fortran, c, T{0}, A, B, T{0}, C);
  EXPECT_EQ(C.at(1, 1), T{0});
}

TYPED_TEST(BlasGemm, NothingToDoTouchesNothing) {
  using T = TypeParam;
  const T one{1}, zero{0};
  const int n = 3, none = 0;
  // No memory at these addresses.
  T* nowhere = reinterpret_cast<T*>(64);
  Blas<T>::fortran("N", "N", &none, &n, &n, &one, nowhere, &n, nowhere, &n, &zero, nowhere, &n, 1,
                   1);
  Blas<T>::fortran("N", "N", &n, &none, &n, &one, nowhere, &n, nowhere, &n, &zero, nowhere, &n, 1,
                   1);
  Blas<T>::fortran("N", "N", &n, &n, &none, &one, nowhere, &n, nowhere, &n, &one, nowhere, &n, 1,
                   1);
  Blas<T>::fortran("N", "N", &n, &n, &n, &zero, nowhere, &n, nowhere, &n, &one, nowhere, &n, 1, 1);
}

TYPED_TEST(BlasGemm, NanAndInfinityReachTheirRowOrColumnAndNothingElse) {
  using T = TypeParam;
  using R = Real<T>;
  for (const index_t size : {5, 40, 150}) {
    for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
      Stored<T> A(size, size, 1), B(size, size, 1), C(size, size, 1);
      A.fill(T{1}), B.fill(T{0}), C.fill(T{0});  // zeros in B: 0 times infinity is NaN
      A.at(2, 3) = T(bad);
      const Case c{kColumn, kNone, kNone, size, size, size};
      call<T>(Name::fortran, c, T{1}, A, B, T{0}, C);
      for (index_t j = 0; j < size; ++j)
        for (index_t i = 0; i < size; ++i)
          EXPECT_EQ(std::isnan(std::real(C.at(i, j))), i == 2) << i << "," << j << " of " << size;
      A.at(2, 3) = T{0};
      B.at(4, 1) = T(bad);
      call<T>(Name::fortran, c, T{1}, A, B, T{0}, C);
      for (index_t j = 0; j < size; ++j)
        for (index_t i = 0; i < size; ++i)
          EXPECT_EQ(std::isfinite(std::abs(C.at(i, j))), j != 1) << i << "," << j << " of " << size;
    }
  }
}

TYPED_TEST(BlasGemm, NanAsAlphaOrBetaFillsC) {
  using T = TypeParam;
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const bool in_alpha : {true, false}) {
    Stored<T> A(3, 3, 0), B(3, 3, 0), C(3, 3, 0);
    A.fill(T{1}), B.fill(T{1}), C.fill(T{1});
    call<T>(Name::cblas, {kRow, kNone, kNone, 3, 3, 3}, in_alpha ? nan : T{1}, A, B,
            in_alpha ? T{0} : nan, C);
    for (index_t i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(std::real(C.data()[i])));
  }
  // k = 0: alpha is not used.
  T c[1] = {T{2}};
  const int one = 1, none = 0;
  const T beta{2};
  Blas<T>::fortran("N", "N", &one, &one, &none, &nan, nullptr, &one, nullptr, &one, &beta, c, &one,
                   1, 1);
  EXPECT_EQ(c[0], T{4});
}

/// Thin products in dot form, where real ones are summed in lanes, beside those that are not.
TYPED_TEST(BlasGemm, ThinProductsOverALongK) {
  using T = TypeParam;
  for (const auto& [M, N] :
       {std::pair<index_t, index_t>{1, 1}, {1, 9}, {33, 2}, {3, 12}, {16, 20}, {17, 18}})
    for (const index_t K : {7, 16, 75, 300})
      for (const int order : {kRow, kColumn})
        for (const int trans_a : {kNone, kTrans})
          for (const int trans_b : {kNone, kTrans})
            for (const Name name : {Name::fortran, Name::cblas_64}) {
              const Case c{order, trans_a, trans_b, M, N, K};
              check<T>(name, c, T{1}, T{0});
              check<T>(name, c, T{2}, T{Real<T>(-0.5)});
            }
}

TYPED_TEST(BlasGemm, LeadingDimensionsFarBeyondTheMatrix) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  const index_t n = 6, padding = 5000;
  Stored<T> A(n, n, padding), B(n, n, padding), C(n, n, padding);
  A.fill(random), B.fill(random);
  call<T>(Name::fortran, {kColumn, kNone, kNone, n, n, n}, T{1}, A, B, T{0}, C);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      EXPECT_EQ(C.at(i, j), defined<T>(
                                n, T{1}, [&](index_t k) { return A.at(i, k); },
                                [&](index_t k) { return B.at(k, j); }, T{0}, T{}));
  EXPECT_TRUE(C.guards_hold());
}

TYPED_TEST(BlasGemm, TheSameMatrixAsBothFactors) {
  using T = TypeParam;
  std::mt19937_64 random(6);
  const index_t n = 37;
  Stored<T> A(n, n, 3), C(n, n, 0);
  A.fill(random);
  call<T>(Name::cblas, {kColumn, kNone, kTrans, n, n, n}, T{1}, A, A, T{0}, C);
  EXPECT_EQ(C.at(1, 30), defined<T>(
                             n, T{1}, [&](index_t k) { return A.at(1, k); },
                             [&](index_t k) { return A.at(30, k); }, T{0}, T{}));
}

/// Address space without memory behind it: only touched pages exist.
template <class T>
class Sparse {
 public:
  explicit Sparse(index_t elements) : bytes_(static_cast<std::size_t>(elements) * sizeof(T)) {
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data = at == MAP_FAILED ? nullptr : static_cast<T*>(at);
  }
  ~Sparse() {
    if (data != nullptr) munmap(data, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  T* data;

 private:
  std::size_t bytes_;
};

TYPED_TEST(BlasGemm, OffsetsBeyond32Bits) {
  using T = TypeParam;
  const index_t ld = std::numeric_limits<int>::max();
  const Sparse<T> A(2 * ld), B(2 * ld), C(2 * ld);
  if (A.data == nullptr || B.data == nullptr || C.data == nullptr)
    GTEST_SKIP() << "offsets beyond 32 bits are NOT tested: no address space for "
                 << 6 * ld * sizeof(T) << " bytes";
  A.data[0] = T{2}, A.data[ld] = T{3};  // A (1,2), B (2,2)
  B.data[0] = T{5}, B.data[1] = T{7}, B.data[ld] = T{11}, B.data[ld + 1] = T{13};
  const int one = 1, two = 2, wide = static_cast<int>(ld);
  const T alpha{1}, beta{0};
  Blas<T>::fortran("N", "N", &one, &two, &two, &alpha, A.data, &wide, B.data, &wide, &beta, C.data,
                   &wide, 1, 1);
  EXPECT_EQ(C.data[0], T{31});
  EXPECT_EQ(C.data[ld], T{61});
  Blas<T>::cblas(kRow, kTrans, kNone, 1, 2, 2, scalar(alpha), A.data, wide, B.data, wide,
                 scalar(beta), C.data, wide);
  EXPECT_EQ(C.data[0], T{2 * 5 + 3 * 11});
  EXPECT_EQ(C.data[1], T{2 * 7 + 3 * 13});
}

TYPED_TEST(BlasGemm, NothingIsReadOrWrittenBesideTheMatrices) {
  using T = TypeParam;
  const BetweenPages<T> a_place(10 * 17), b_place(17 * 19), c_place(10 * 19);
  const T one{1}, zero{0};
  for (const Against against : {Against::page_in_front, Against::page_behind})
    for (int m = 1; m <= 10; ++m)
      for (int n = 1; n <= 19; n += 2)
        for (const int k : {1, 2, 5, 8, 17}) {
          T *const A = a_place.place(m * k, against), *const B = b_place.place(k * n, against);
          T* const C = c_place.place(m * n, against);
          std::fill_n(A, m * k, one), std::fill_n(B, k * n, one);
          a_place.seal(), b_place.seal();
          for (const int ta : {kNone, kTrans})
            for (const int tb : {kNone, kTrans}) {
              std::fill_n(C, m * n, T{99});
              Blas<T>::cblas(kRow, ta, tb, m, n, k, scalar(one), A, ta == kNone ? k : m, B,
                             tb == kNone ? n : k, scalar(zero), C, n);
              ASSERT_EQ(std::count(C, C + m * n, T(Real<T>(k))), m * n);
            }
          a_place.unseal(), b_place.unseal();
        }
}

TYPED_TEST(BlasGemm, AnExactProductRaisesNoException) {
  using T = TypeParam;
  std::fenv_t before;
  std::fegetenv(&before);
  const T two{2}, zero{0};
  for (const int n : {1, 7, 16, 48, 50, 64, 97, 128, 200, 300}) {
    const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const std::vector<T> A(size, T{3}), B(size, T{-1});
    std::vector<T> C(size);
    std::feclearexcept(FE_ALL_EXCEPT);
    Blas<T>::cblas(kRow, kNone, kTrans, n, n, n, scalar(two), A.data(), n, B.data(), n,
                   scalar(zero), C.data(), n);
    const int raised = std::fetestexcept(FE_ALL_EXCEPT);
    EXPECT_EQ(raised, 0) << "n = " << n;
    EXPECT_EQ(C[0], T(Real<T>(-6 * n)));
  }
  std::fesetenv(&before);
}

template <class T>
class BlasConjugates : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlasConjugates, Reals);

/// Calls body(order, ta, tb, size) for factors that are read in place, and copied, small and not.
template <class Body>
void each_conjugate(const Body& body) {
  for (const int order : {kRow, kColumn})
    for (const int ta : kEveryTrans)
      for (const int tb : kEveryTrans)
        for (const index_t size : {1, 5, 40}) body(order, ta, tb, size);
}

TYPED_TEST(BlasConjugates, OfZeroIsPlusZero) {
  using T = std::complex<TypeParam>;
  each_conjugate([](int order, int ta, int tb, index_t size) {
    for (const auto& [x, y] : {std::pair{T(1, 0), T(1, 0)}, {T(0, 1), T(0, 1)}, {T{}, T(1, 1)}}) {
      Stored<T> A(size, size, 1), B(size, size, 1), C(size, size, 1);
      A.fill(x), B.fill(y);
      call<T>(Name::cblas, {order, ta, tb, size, size, size}, T{1}, A, B, T{0}, C);
      const T c = C.at(size - 1, 0);
      EXPECT_TRUE(c.real() != 0 || !std::signbit(c.real())) << letter(ta) << letter(tb) << x;
      EXPECT_TRUE(c.imag() != 0 || !std::signbit(c.imag())) << letter(ta) << letter(tb) << x;
    }
  });
}

/// As docs/blas.md says it: the sums are those of the stored elements, whichever are conjugated.
TYPED_TEST(BlasConjugates, AreJoinedAsDocumentedInEveryRounding) {
  using R = TypeParam;
  using T = std::complex<R>;
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    each_conjugate([mode](int order, int ta, int tb, index_t size) {
      std::mt19937_64 random(3);
      Stored<T> A(size, size, 1), B(size, size, 1), C(size, size, 1);
      A.fill(random), B.fill(random);
      std::fesetround(mode);
      call<T>(Name::cblas, {order, ta, tb, size, size, size}, T{1}, A, B, T{0}, C);
      volatile R rr = 0, ii = 0, ri = 0, ir = 0;
      for (index_t k = 0; k < size; ++k) {
        const T a = element(A, order, transposes(ta) ? kTrans : kNone, 0, k),
                b = element(B, order, transposes(tb) ? kTrans : kNone, k, size - 1);
        rr = std::fma(a.real(), b.real(), rr);
        ii = std::fma(a.imag(), b.imag(), ii);
        ri = std::fma(a.real(), b.imag(), ri);
        ir = std::fma(a.imag(), b.real(), ir);
      }
      const bool of_a = conjugates(ta), of_b = conjugates(tb);
      volatile R re = of_a == of_b ? rr - ii : rr + ii;
      volatile R im = of_b ? 0 - ri : +ri;
      im = of_a && of_b ? im - ir : of_a ? ri - ir : of_b ? ir - ri : ri + ir;
      std::fesetround(FE_TONEAREST);
      const T c = element(C, order, kNone, 0, size - 1);
      EXPECT_EQ(c, T(re, im)) << letter(ta) << letter(tb) << " " << size << " rounding " << mode;
    });
  }
}

}  // namespace
}  // namespace tessera::testing
