// {s,d,c,z}syrk, trsm and trmm and {c,z}herk under all their names: against the definition, with
// NaN in what must not be read, and bit by bit whatever the threads.
#include <algorithm>
#include <array>
#include <cstring>

#include "blas_calls.hpp"

#define TESSERA_TEST_RANK_K(stem, T, F, S)                                                        \
  void stem##_(const char*, const char*, const int*, const int*, const F*, const T*, const int*,  \
               const F*, T*, const int*, std::size_t, std::size_t);                               \
  void cblas_##stem(int, int, int, int, int, S, const T*, int, S, T*, int);                       \
  void cblas_##stem##64_(int, int, int, std::int64_t, std::int64_t, S, const T*, std::int64_t, S, \
                         T*, std::int64_t);
#define TESSERA_TEST_ONE(stem, T, S)                                                       \
  void stem##_(const char*, const char*, const char*, const char*, const int*, const int*, \
               const T*, const T*, const int*, T*, const int*, std::size_t, std::size_t,   \
               std::size_t, std::size_t);                                                  \
  void cblas_##stem(int, int, int, int, int, int, int, S, const T*, int, T*, int);         \
  void cblas_##stem##64_(int, int, int, int, int, std::int64_t, std::int64_t, S, const T*, \
                         std::int64_t, T*, std::int64_t);
#define TESSERA_TEST_LEVEL3(x, T, S)    \
  TESSERA_TEST_RANK_K(x##syrk, T, T, S) \
  TESSERA_TEST_ONE(x##trsm, T, S)       \
  TESSERA_TEST_ONE(x##trmm, T, S)       \
  void cblas_##x##gemmt(int, int, int, int, int, int, S, const T*, int, const T*, int, S, T*, int);

extern "C" {
TESSERA_TEST_LEVEL3(s, float, float)
TESSERA_TEST_LEVEL3(d, double, double)
TESSERA_TEST_LEVEL3(c, tessera::testing::c32, const tessera::testing::c32*)
TESSERA_TEST_LEVEL3(z, tessera::testing::c64, const tessera::testing::c64*)
TESSERA_TEST_RANK_K(cherk, tessera::testing::c32, float, float)
TESSERA_TEST_RANK_K(zherk, tessera::testing::c64, double, double)
}

namespace tessera::testing {
namespace {

template <class T>
struct Level3;
#define TESSERA_TEST_LEVEL3_NAMES(x, T)                                              \
  template <>                                                                        \
  struct Level3<T> {                                                                 \
    static constexpr auto syrk = x##syrk_;                                           \
    static constexpr auto cblas_syrk = cblas_##x##syrk;                              \
    static constexpr auto cblas_syrk64 = cblas_##x##syrk64_;                         \
    static constexpr auto gemmt = cblas_##x##gemmt;                                  \
    static constexpr std::array one{x##trsm_, x##trmm_};                             \
    static constexpr std::array cblas_one{cblas_##x##trsm, cblas_##x##trmm};         \
    static constexpr std::array cblas_one64{cblas_##x##trsm64_, cblas_##x##trmm64_}; \
  };
TESSERA_TEST_LEVEL3_NAMES(s, float)
TESSERA_TEST_LEVEL3_NAMES(d, double)
TESSERA_TEST_LEVEL3_NAMES(c, c32)
TESSERA_TEST_LEVEL3_NAMES(z, c64)

constexpr int kStoredDiagonal = 131, kUnit = 132, kLeft = 141, kRight = 142;

template <class T>
constexpr T kNaN = T(std::numeric_limits<Real<T>>::quiet_NaN());

template <class T>
class BlasLevel3 : public ::testing::Test {};
using Types = ::testing::Types<float, double, c32, c64>;
TYPED_TEST_SUITE(BlasLevel3, Types);

TYPED_TEST(BlasLevel3, SyrkHasTheBitsOfAProduct) {
  using T = TypeParam;
  using F = Level3<T>;
  const T scalars[] = {T{0}, T{1}, T(Real<T>(-0.7))};
  std::mt19937_64 random(3);
  for (const int n : {0, 1, 2, 17, 32, 33, 65, 100})
    for (const int k : {0, 1, 40, 600})
      for (const int order : {kRow, kColumn})
        for (const int uplo : {kUpper, kLower})
          for (const int trans : {kNone, kTrans})
            for (const T beta : scalars) {
              const T alpha = scalars[static_cast<std::size_t>(n + k) % 3];
              Stored<T> A = stored<T>(order, trans, n, k), C = stored<T>(order, kNone, n, n);
              A.fill(random);
              if (beta == T{0}) C.fill(kNaN<T>);
              else C.fill(random);
              Stored<T> fortran = C, wide = C, expected = C;
              F::gemmt(order, uplo, trans, trans == kNone ? kTrans : kNone, n, k, scalar(alpha),
                       A.data(), A.ld(), A.data(), A.ld(), scalar(beta), expected.data(), C.ld());
              F::cblas_syrk(order, uplo, trans, n, k, scalar(alpha), A.data(), A.ld(), scalar(beta),
                            C.data(), C.ld());
              F::cblas_syrk64(order, uplo, trans, n, k, scalar(alpha), A.data(), A.ld(),
                              scalar(beta), wide.data(), C.ld());
              // By columns a matrix stored by rows is its transpose.
              const bool turned = order == kRow;
              const char u = (uplo == kUpper) != turned ? 'U' : 'l',
                         t = (trans == kNone) != turned ? 'n' : 'T';
              const int lda = A.ld(), ldc = C.ld();
              F::syrk(&u, &t, &n, &k, &alpha, A.data(), &lda, &beta, fortran.data(), &ldc, 1, 1);
              int wrong = 0;
              for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                  for (const Stored<T>* own : {&C, &wide, &fortran})
                    wrong += !same(own->at(i, j), expected.at(i, j));
              ASSERT_EQ(wrong, 0) << "n=" << n << " k=" << k << " order=" << order
                                  << " uplo=" << uplo << " trans=" << trans << " beta=" << beta;
              EXPECT_TRUE(A.guards_hold() && C.guards_hold() && fortran.guards_hold());
            }
}

template <class T, class Herk>
void check_herk(const Herk& herk) {
  using R = Real<T>;
  std::mt19937_64 random(4);
  for (const int n : {1, 5, 33, 70})
    for (const int k : {0, 1, 40})
      for (const int order : {kRow, kColumn})
        for (const int uplo : {kUpper, kLower})
          for (const int trans : {kNone, kConj})
            for (const R beta : {R(0), R(1), R(-2)}) {
              Stored<T> A = stored<T>(order, trans, n, k), C = stored<T>(order, kNone, n, n);
              A.fill(random), C.fill(random);
              // The imaginary parts on the diagonal are not read.
              for (int i = 0; i < n; ++i) C.at(i, i).imag(std::numeric_limits<R>::quiet_NaN());
              Stored<T> expected = C;
              for (int i = 0; i < n; ++i) expected.at(i, i).imag(0);
              const T one{1}, by{beta};
              Level3<T>::gemmt(order, uplo, trans, trans == kNone ? kConj : kNone, n, k, &one,
                               A.data(), A.ld(), A.data(), A.ld(), &by, expected.data(), C.ld());
              const bool changes = k > 0 || beta != R(1);
              herk(order, uplo, trans, n, k, R(1), A.data(), A.ld(), beta, C.data(), C.ld());
              int wrong = 0;
              for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                  if (i != j) wrong += !same(C.at(i, j), expected.at(i, j));
                  else if (changes)
                    wrong += C.at(i, i).imag() != 0 ||
                             !same(C.at(i, i).real(), expected.at(i, i).real());
                  else wrong += !std::isnan(C.at(i, i).imag());
              EXPECT_EQ(wrong, 0) << "n=" << n << " k=" << k << " order=" << order
                                  << " uplo=" << uplo << " trans=" << trans << " beta=" << beta;
            }
}
TEST(BlasHerk, HasTheBitsOfAProductAndARealDiagonal) {
  check_herk<c32>(cblas_cherk);
  check_herk<c64>(cblas_zherk);
}

/// A call of trsm or trmm; which: 0 or 1.
struct OneTriangle {
  int which, order, side, uplo, trans, diagonal, m, n;
};
std::string text(const OneTriangle& c) {
  return std::string(c.which == 0 ? "trsm" : "trmm") + (c.order == kRow ? " row" : " column") +
         (c.side == kLeft ? " L" : " R") + (c.uplo == kUpper ? "U" : "L") + letter(c.trans) +
         (c.diagonal == kUnit ? "U" : "N") + " m=" + std::to_string(c.m) +
         " n=" + std::to_string(c.n);
}

template <class T>
struct Matrices {
  Stored<T> A, B;
};
/// Well conditioned; NaN in what is not read.
template <class T>
Matrices<T> matrices(const OneTriangle& c, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const int order = c.side == kLeft ? c.m : c.n;
  Matrices<T> out{stored<T>(c.order, kNone, order, order), stored<T>(c.order, kNone, c.m, c.n)};
  out.A.fill(kNaN<T>), out.B.fill(random);
  for (int i = 0; i < order; ++i)
    for (int j = 0; j < order; ++j) {
      T& to = c.order == kRow ? out.A.at(j, i) : out.A.at(i, j);
      if (i == j && c.diagonal == kStoredDiagonal) to = T{2} + Stored<T>::number(random);
      else if (i != j && (c.uplo == kUpper) == (i < j))
        to = Stored<T>::number(random) / Real<T>(order);
    }
  return out;
}

template <class T>
void call(const OneTriangle& c, T alpha, const Stored<T>& A, Stored<T>& B) {
  Level3<T>::cblas_one[c.which](c.order, c.side, c.uplo, c.trans, c.diagonal, c.m, c.n,
                                scalar(alpha), A.data(), A.ld(), B.data(), B.ld());
}

/// op(A) of the triangle, X and alpha B: is op(A) X = alpha B, or the same from the right?
template <class T>
void check_definition(const OneTriangle& c, T alpha) {
  using Wide = std::complex<long double>;
  Matrices<T> now = matrices<T>(c, 9);
  const Stored<T> before = now.B;
  call(c, alpha, now.A, now.B);
  const auto wide = [](T x) -> Wide {
    if constexpr (is_complex<T>) return {x.real(), x.imag()};
    else return {x, 0};
  };
  const auto triangle = [&](int i, int j) -> Wide {
    const bool turned = transposes(c.trans);
    if (i == j && c.diagonal == kUnit) return {1, 0};
    const bool stored_there = i == j || (c.uplo == kUpper) == ((turned ? j : i) < (turned ? i : j));
    return stored_there ? wide(element(now.A, c.order, c.trans, i, j)) : Wide{};
  };
  const Stored<T>& x = c.which == 0 ? now.B : before;  // op(A) times this is alpha times, or is
  const Stored<T>& y = c.which == 0 ? before : now.B;
  const int order = c.side == kLeft ? c.m : c.n;
  long double worst = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      Wide sum{};
      for (int l = 0; l < order; ++l)
        sum += c.side == kLeft ? triangle(i, l) * wide(element(x, c.order, kNone, l, j))
                               : wide(element(x, c.order, kNone, i, l)) * triangle(l, j);
      const Wide got = wide(element(y, c.order, kNone, i, j));
      const Wide error = c.which == 0 ? sum - wide(alpha) * got : wide(alpha) * sum - got;
      worst = std::max(worst, std::abs(error.real()) + std::abs(error.imag()));
      if (std::isnan(error.real())) worst = INFINITY;
    }
  EXPECT_LE(worst, 30 * std::numeric_limits<Real<T>>::epsilon()) << text(c);
  EXPECT_TRUE(now.B.guards_hold()) << text(c);
}

TYPED_TEST(BlasLevel3, OneTriangleByItsDefinition) {
  using T = TypeParam;
  for (const int which : {0, 1})
    for (const int order : {kRow, kColumn})
      for (const int side : {kLeft, kRight})
        for (const int uplo : {kUpper, kLower})
          for (const int trans : kEveryTrans)
            for (const int diagonal : {kStoredDiagonal, kUnit})
              for (const auto& [m, n] :
                   {std::pair{1, 1}, {3, 70}, {15, 2}, {17, 33}, {32, 65}, {65, 31}, {70, 5}})
                check_definition<T>({which, order, side, uplo, trans, diagonal, m, n},
                                    m % 2 ? T{1} : T(Real<T>(1.5)));
}

/// Long on one side or the other, beyond one panel and one block of the threads.
TYPED_TEST(BlasLevel3, LargeTrianglesByTheirDefinition) {
  using T = TypeParam;
  for (const int which : {0, 1})
    for (const auto& [m, n] : {std::pair{90, 300}, {7, 600}, {100, 1}, {0, 5}, {5, 0}})
      for (const int side : {kLeft, kRight}) {
        const int order = side == kLeft ? kColumn : kRow;
        check_definition<T>({which, order, side, kLower, kTrans, kStoredDiagonal, m, n}, T{1});
      }
}

/// All names and every storage order give the same bits; so does any number of threads.
TYPED_TEST(BlasLevel3, OneTriangleHasTheSameBitsByEveryName) {
  using T = TypeParam;
  using F = Level3<T>;
  for (const int which : {0, 1})
    for (const int side : {kLeft, kRight})
      for (const int uplo : {kUpper, kLower})
        for (const int trans : kEveryTrans) {
          const OneTriangle c{which, kColumn, side, uplo, trans, kStoredDiagonal, 90, 300};
          const T alpha = T(Real<T>(0.3));
          Matrices<T> first = matrices<T>(c, 5), wide = first, fortran = first, alone = first;
          call(c, alpha, first.A, first.B);
          F::cblas_one64[which](c.order, side, uplo, trans, kStoredDiagonal, c.m, c.n,
                                scalar(alpha), wide.A.data(), wide.A.ld(), wide.B.data(),
                                wide.B.ld());
          const char s = side == kLeft ? 'l' : 'R', u = uplo == kUpper ? 'U' : 'l',
                     t = letter(trans), d = 'n';
          const int lda = first.A.ld(), ldb = first.B.ld();
          F::one[which](&s, &u, &t, &d, &c.m, &c.n, &alpha, fortran.A.data(), &lda,
                        fortran.B.data(), &ldb, 1, 1, 1, 1);
          const int before = tessera_set_num_threads_local(1);
          call(c, alpha, alone.A, alone.B);
          tessera_set_num_threads_local(before);
          // B' from the other side.
          OneTriangle other = c;
          other.order = kRow, other.side = side == kLeft ? kRight : kLeft;
          other.uplo = uplo == kUpper ? kLower : kUpper, std::swap(other.m, other.n);
          Matrices<T> turned = matrices<T>(c, 5);
          Level3<T>::cblas_one[which](kRow, other.side, other.uplo, trans, kStoredDiagonal, other.m,
                                      other.n, scalar(alpha), turned.A.data(), turned.A.ld(),
                                      turned.B.data(), turned.B.ld());
          int wrong = 0;
          for (int i = 0; i < c.m; ++i)
            for (int j = 0; j < c.n; ++j)
              for (const Stored<T>* own : {&wide.B, &fortran.B, &alone.B, &turned.B})
                wrong += std::memcmp(&own->at(i, j), &first.B.at(i, j), sizeof(T)) != 0;
          EXPECT_EQ(wrong, 0) << text(c);
        }
}

/// alpha = 0 reads nothing; NaN and infinity reach what depends on them and nothing else.
TYPED_TEST(BlasLevel3, OneTriangleKeepsNaNInItsPlace) {
  using T = TypeParam;
  for (const int which : {0, 1})
    for (const int uplo : {kUpper, kLower}) {
      const OneTriangle c{which, kColumn, kLeft, uplo, kNone, kStoredDiagonal, 70, 40};
      Matrices<T> now = matrices<T>(c, 6);
      now.A.fill(kNaN<T>), now.B.fill(kNaN<T>);
      call(c, T{0}, now.A, now.B);
      int wrong = 0;
      for (int i = 0; i < c.m; ++i)
        for (int j = 0; j < c.n; ++j) wrong += now.B.at(i, j) != T{0};
      EXPECT_EQ(wrong, 0) << text(c);

      now = matrices<T>(c, 6);
      now.B.at(35, 7) = kNaN<T>;
      call(c, T{1}, now.A, now.B);
      for (int i = 0; i < c.m; ++i)
        for (int j = 0; j < c.n; ++j) {
          const bool depends = j == 7 && (uplo == kLower ? i >= 35 : i <= 35);
          wrong += same(now.B.at(i, j), now.B.at(i, j) + kNaN<T>) != depends;
        }
      EXPECT_EQ(wrong, 0) << text(c) << " with one NaN";
    }
}

/// A diagonal element without a reciprocal: zero, infinite, or subnormal.
TYPED_TEST(BlasLevel3, TrsmDividesByAnyDiagonal) {
  using T = TypeParam;
  using R = Real<T>;
  const R tiny = std::numeric_limits<R>::denorm_min(),
          infinite = std::numeric_limits<R>::infinity();
  const OneTriangle c{0, kColumn, kLeft, kLower, kNone, kStoredDiagonal, 3, 2};
  Stored<T> A = stored<T>(kColumn, kNone, 3, 3), B = stored<T>(kColumn, kNone, 3, 2);
  A.fill(T{0}), B.fill(T{tiny * 4});
  A.at(0, 0) = T{tiny * 2}, A.at(1, 1) = T{tiny}, A.at(2, 2) = T{infinite};
  call(c, T{1}, A, B);
  for (int j = 0; j < 2; ++j) {
    EXPECT_EQ(B.at(0, j), T{2});
    EXPECT_EQ(B.at(1, j), T{4});
    EXPECT_EQ(std::abs(B.at(2, j)), R{0});
  }
  A.at(0, 0) = T{0}, A.at(2, 2) = T{1}, A.at(1, 1) = T{1};
  B.fill(T{1});
  call(c, T{1}, A, B);
  EXPECT_FALSE(std::isfinite(std::abs(B.at(0, 0))));
}

}  // namespace
}  // namespace tessera::testing
