// {s,d,c,z}laswp under both names, against LAPACK's definition, exchange by exchange.
#include <utility>
#include <vector>

#include "blas_calls.hpp"

#define TESSERA_TEST_LASWP(x, T)                                                              \
  void x##laswp_(const int*, T*, const int*, const int*, const int*, const int*, const int*); \
  void x##laswp_64_(const std::int64_t*, T*, const std::int64_t*, const std::int64_t*,        \
                    const std::int64_t*, const std::int64_t*, const std::int64_t*);

extern "C" {
TESSERA_TEST_LASWP(s, float)
TESSERA_TEST_LASWP(d, double)
TESSERA_TEST_LASWP(c, tessera::testing::c32)
TESSERA_TEST_LASWP(z, tessera::testing::c64)
void tessera_set_num_threads(int);
}

namespace tessera::testing {
namespace {

template <class T>
struct Laswp;
#define TESSERA_TEST_LASWP_NAMES(x, T)         \
  template <>                                  \
  struct Laswp<T> {                            \
    static constexpr auto plain = x##laswp_;   \
    static constexpr auto wide = x##laswp_64_; \
  };
TESSERA_TEST_LASWP_NAMES(s, float)
TESSERA_TEST_LASWP_NAMES(d, double)
TESSERA_TEST_LASWP_NAMES(c, c32)
TESSERA_TEST_LASWP_NAMES(z, c64)

template <class T>
class BlasLaswp : public ::testing::Test {};
using Types = ::testing::Types<float, double, c32, c64>;
TYPED_TEST_SUITE(BlasLaswp, Types);

/// What LAPACK says: rows k1 to k2 in this order or, for a negative stride, the other way round.
template <class T, class Int>
void exchange(Int n, std::vector<T>& A, Int lda, Int k1, Int k2, const std::vector<Int>& pivots,
              Int stride) {
  for (Int i = 0; stride != 0 && i <= k2 - k1; ++i) {
    const Int row = stride > 0 ? k1 + i : k2 - i;
    const Int at = stride > 0 ? k1 + i * stride : k1 + (k1 - k2) * stride + i * stride;
    const Int other = pivots[static_cast<std::size_t>(at - 1)];
    for (Int j = 0; j < n; ++j)
      std::swap(A[static_cast<std::size_t>(row - 1 + j * lda)],
                A[static_cast<std::size_t>(other - 1 + j * lda)]);
  }
}

template <class T, class Int, class Function>
void expect_exchanges(Function function) {
  std::mt19937_64 random(5);
  const Int m = 300, lda = m + 3;
  std::vector<Int> pivots(static_cast<std::size_t>(4 * m));
  for (Int& pivot : pivots) pivot = static_cast<Int>(1 + random() % static_cast<unsigned>(m));
  for (const Int n : {0, 1, 5, 33, 700}) {
    for (const Int stride : {1, 3, 0, -1, -2}) {
      for (const auto& [k1, k2] : {std::pair<Int, Int>{1, 64}, {7, 7}, {9, 8}, {30, 300}}) {
        std::vector<T> A(static_cast<std::size_t>(lda * n + 1));
        for (std::size_t i = 0; i < A.size(); ++i) A[i] = T(static_cast<Real<T>>(i));
        auto expected = A;
        exchange(n, expected, lda, k1, k2, pivots, stride);
        function(&n, A.data(), &lda, &k1, &k2, pivots.data(), &stride);
        ASSERT_EQ(A, expected) << n << " columns, rows " << k1 << " to " << k2 << ", " << stride;
      }
    }
  }
}

TYPED_TEST(BlasLaswp, ExchangesRowsAsLapackDefinesIt) {
  for (const int threads : {1, 2}) {
    tessera_set_num_threads(threads);
    expect_exchanges<TypeParam, int>(Laswp<TypeParam>::plain);
    expect_exchanges<TypeParam, std::int64_t>(Laswp<TypeParam>::wide);
  }
  tessera_set_num_threads(0);
}

}  // namespace
}  // namespace tessera::testing
