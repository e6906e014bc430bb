// Batched products: the bits of single calls, groups of any number and size, arguments checked
// before anything is computed.
#include "blas_calls.hpp"

extern "C" {
void dgemm_batch_(const char*, const char*, const int*, const int*, const int*, const double*,
                  const double* const*, const int*, const double* const*, const int*, const double*,
                  double* const*, const int*, const int*, const int*);
void dgemm_batch_strided_(const char*, const char*, const int*, const int*, const int*,
                          const double*, const double*, const int*, const int*, const double*,
                          const int*, const int*, const double*, double*, const int*, const int*,
                          const int*);
}

namespace tessera::testing {
namespace {

template <class T>
class BlasBatch : public ::testing::Test {};
using Types = ::testing::Types<float, double, c32, c64>;
TYPED_TEST_SUITE(BlasBatch, Types);

/// An array of pointers as the C functions take it: complex matrices are void.
template <class P>
auto pointers(const std::vector<P>& all) {
  using T = std::remove_cv_t<std::remove_pointer_t<P>>;
  using Element = std::conditional_t<is_complex<T>, void, T>;
  if constexpr (std::is_const_v<std::remove_pointer_t<P>>)
    return reinterpret_cast<const Element* const*>(all.data());
  else return reinterpret_cast<Element* const*>(all.data());
}

template <class T>
bool equal_bits(const Stored<T>& x, const Stored<T>& y, index_t elements) {
  return std::memcmp(x.data(), y.data(), static_cast<std::size_t>(elements) * sizeof(T)) == 0;
}

TYPED_TEST(BlasBatch, GroupsAreProductsOneAfterTheOther) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (const int order : {kRow, kColumn}) {
    for (const int scale : {1, 9}) {  // small products are shared out, large ones are not
      const Case cases[] = {{order, kOnlyConj, kTrans, 3 * scale, 5 * scale, 7 * scale},
                            {order, kConj, kNone, 40 * scale, 8 * scale, 30 * scale},
                            {order, kTrans, kTrans, 1, 9, 2}};
      const int sizes[] = {70 / scale, 1, 0}, groups = 3;
      std::vector<Stored<T>> A, B, C, expected;
      std::vector<const T*> a, b;
      std::vector<T*> c;
      std::vector<int> ta, tb, m, n, k, lda, ldb, ldc;
      std::vector<T> alpha, beta;
      for (int g = 0; g < groups; ++g) {
        const Case& each = cases[g];
        alpha.push_back(T(Real<T>(0.5) * Real<T>(g + 1))), beta.push_back(T(Real<T>(g)));
        ta.push_back(each.trans_a), tb.push_back(each.trans_b);
        m.push_back(static_cast<int>(each.M)), n.push_back(static_cast<int>(each.N));
        k.push_back(static_cast<int>(each.K));
        lda.push_back(stored<T>(order, each.trans_a, each.M, each.K).ld());
        ldb.push_back(stored<T>(order, each.trans_b, each.K, each.N).ld());
        ldc.push_back(stored<T>(order, kNone, each.M, each.N).ld());
        for (int i = 0; i < sizes[g]; ++i) {
          A.push_back(stored<T>(order, each.trans_a, each.M, each.K)), A.back().fill(random);
          B.push_back(stored<T>(order, each.trans_b, each.K, each.N)), B.back().fill(random);
          C.push_back(stored<T>(order, kNone, each.M, each.N)), C.back().fill(random);
          expected.push_back(C.back());
          call<T>(Name::cblas, each, alpha.back(), A.back(), B.back(), beta.back(),
                  expected.back());
        }
      }
      for (std::size_t i = 0; i < A.size(); ++i)
        a.push_back(A[i].data()), b.push_back(B[i].data()), c.push_back(C[i].data());
      Blas<T>::batch(order, ta.data(), tb.data(), m.data(), n.data(), k.data(), alpha.data(),
                     pointers(a), lda.data(), pointers(b), ldb.data(), beta.data(), pointers(c),
                     ldc.data(), groups, sizes);
      for (std::size_t i = 0; i < C.size(); ++i) {
        const Case& each = cases[i < static_cast<std::size_t>(sizes[0]) ? 0 : 1];
        ASSERT_TRUE(
            equal_bits(C[i], expected[i], C[i].ld() * ((order == kRow ? each.M : each.N) - 1)))
            << i;
        ASSERT_TRUE(C[i].guards_hold());
      }
    }
  }
}

TYPED_TEST(BlasBatch, StridedProductsShareAFactorOfStrideZero) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  const int m = 6, n = 4, k = 5, count = 50;
  std::vector<T> A(m * k), B(n * k * count), C(m * n * count), expected;
  for (T& x : A) x = Stored<T>::number(random);
  for (T& x : B) x = Stored<T>::number(random);
  for (T& x : C) x = Stored<T>::number(random);
  expected = C;
  const T alpha{2}, beta{1};
  for (const int order : {kRow, kColumn}) {
    const int lda = order == kRow ? k : m, ldb = order == kRow ? n : k, ldc = order == kRow ? n : m;
    for (int i = 0; i < count; ++i)
      Blas<T>::cblas(order, kNone, kNone, m, n, k, scalar(alpha), A.data(), lda,
                     B.data() + i * n * k, ldb, scalar(beta), expected.data() + i * m * n, ldc);
    Blas<T>::strided(order, kNone, kNone, m, n, k, scalar(alpha), A.data(), lda, 0, B.data(), ldb,
                     n * k, scalar(beta), C.data(), ldc, m * n, count);
    EXPECT_EQ(std::memcmp(C.data(), expected.data(), C.size() * sizeof(T)), 0);
  }
}

TEST(BlasBatchCalls, FortranNames) {
  const double A[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, B[4] = {1, 0, 0, 1}, one = 1, zero = 0;
  double C[2][4], D[2][4];
  const double* a[] = {A[0], A[1]};
  const double* b[] = {B, B};
  double* c[] = {C[0], C[1]};
  const int n = 2, groups = 1, size = 2, step = 4, none = 0;
  dgemm_batch_("T", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, &groups, &size);
  dgemm_batch_strided_("T", "N", &n, &n, &n, &one, A[0], &n, &step, B, &n, &none, &zero, D[0], &n,
                       &step, &size);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      const double expected = A[i][(j % 2) * 2 + j / 2];
      EXPECT_EQ(C[i][j], expected);
      EXPECT_EQ(D[i][j], expected);
    }
}

TEST(BlasBatchCalls, NoProductsAtAll) {
  cblas_dgemm_batch(kRow, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                    nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
  const double x = 0;
  double c = 7;
  cblas_dgemm_batch_strided(kRow, kNone, kNone, 1, 1, 1, 1, &x, 1, 1, &x, 1, 1, 0, &c, 1, 1, 0);
  EXPECT_EQ(c, 7);
}

}  // namespace
}  // namespace tessera::testing
