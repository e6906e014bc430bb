// The packed path against exact sums of whole numbers, over every kind of shape.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "blocking.hpp"
#include "cpu/multiply.hpp"
#include "cpu/reported_route.hpp"
#include "support/sanitizers.hpp"
#include "support/thinned.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/cpu/gemm_plan.hpp"
#include "tessera/cpu/packed_matrix.hpp"

namespace tessera {
namespace {

using testing::call_on;
using testing::describe;
using testing::difference;
using testing::Guarded;
using testing::kThreads;
using testing::multiply;
using testing::Order;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

template <class T>
class GemmOf : public ::testing::Test {};
TYPED_TEST_SUITE(GemmOf, testing::RealTypes, testing::TypeNames);

/// A (M,K), B (K,N) of whole numbers from -9 to 9 and their exact sums. The upper left corner of a
/// product is the product of a smaller shape with the same K. |sum| <= 81 K: exact in f32 up to
/// K = 207126.
class WholeNumbers {
 public:
  WholeNumbers(index_t M, index_t N, index_t K)
      : N_(N), K_(K), a_(random(M * K, 1)), b_(random(K * N, 2)), sums_(size(M * N), 0) {
    for (index_t i = 0; i < M; ++i) {
      for (index_t k = 0; k < K; ++k) {
        const int a = a_[size(i * K + k)];
        const int* b = &b_[size(k * N)];
        int* sums = &sums_[size(i * N)];
        for (index_t j = 0; j < N; ++j) sums[j] += a * b[j];
      }
    }
  }

  /// Multiplies the corner (M,N), operands in these orders of strides, and compares.
  template <class T>
  void check(index_t M, index_t N, Order<T> a, Order<T> b, Order<T> c, int threads) const {
    Guarded<T> A(M, K_, a), B(K_, N, b), C(M, N, c);
    A.fill([&](index_t i, index_t k) { return a_[size(i * K_ + k)]; });
    B.fill([&](index_t k, index_t j) { return b_[size(k * N_ + j)]; });
    multiply<T>({.threads = threads}, A.view(), B.view(), C.view());
    const std::string wrong = difference(
        C, [&](index_t i, index_t j) { return static_cast<T>(sums_[size(i * N_ + j)]); });
    if (wrong.empty() && C.guards_intact()) return;
    ADD_FAILURE() << describe(call_on<T>({.threads = threads}, A.view(), B.view(), C.view()))
                  << ": " << (wrong.empty() ? "wrote outside of C" : wrong);
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::vector<int> random(index_t count, std::uint64_t seed) {
    RandomData data(seed, true);
    std::vector<int> out(size(count));
    for (int& x : out) x = static_cast<int>(data(0, 0));
    return out;
  }
  index_t N_, K_;
  std::vector<int> a_, b_, sums_;
};

/// The four transpositions of A and B.
template <class T, class Body>
void each_transposition(Body body) {
  for (const auto a : {Order<T>::row_major, Order<T>::col_major}) {
    for (const auto b : {Order<T>::row_major, Order<T>::col_major}) body(a, b);
  }
}

TYPED_TEST(GemmOf, IsExactForEveryRemainderOfAMicroTile) {
  using T = TypeParam;
  Thinned thinned(7);
  int turn = 0;
  for (const index_t K : {1, 3, 49}) {
    const WholeNumbers numbers(17, 99, K);
    for (index_t M = 0; M <= 17; ++M) {
      for (index_t N = 0; N <= 99; N == 66 ? N = 95 : ++N) {
        each_transposition<T>([&](Order<T> a, Order<T> b) {
          const auto c = testing::kOrders<T>[static_cast<std::size_t>(turn++ % 5)];
          if (thinned.takes(K, M, N, a, b, c)) numbers.check<T>(M, N, a, b, c, 1);
        });
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(GemmOf, IsExactForEveryDepth) {
  using T = TypeParam;
  Thinned thinned(3);
  // Around powers of two, and around the depths of KC blocks that L1 caches of 32 and 48 KiB give.
  for (const index_t K :
       {0,   2,   7,   8,   9,   31,   33,   64,   127,  128,  129,  170,  171,  172, 255,
        256, 257, 340, 341, 342, 384,  385,  509,  511,  512,  513,  682,  683,  684, 767,
        768, 769, 800, 997, 999, 1000, 1023, 1024, 1025, 1027, 1365, 1537, 2051, 3001}) {
    const WholeNumbers numbers(9, 55, K);
    each_transposition<T>([&](Order<T> a, Order<T> b) {
      if (thinned.takes(K, a, b))
        numbers.check<T>(9, 55, a, b, Order<T>::row_major, K % 2 == 0 ? 1 : 2);
    });
    if (::testing::Test::HasFailure()) return;
  }
}

/// Few rows, few columns, and few of them left beyond whole vectors: made by one thread alone.
TYPED_TEST(GemmOf, IsExactForSmallProductsOfAnySides) {
  using T = TypeParam;
  Thinned thinned(7);
  for (const index_t K : {7, 16, 100, 257}) {
    const WholeNumbers numbers(260, 260, K);
    int turn = 0;
    for (const index_t M : {1, 2, 3, 8, 9, 23, 24, 33, 100, 256, 260}) {
      for (const index_t N : {1, 2, 4, 5, 8, 9, 17, 33, 36, 37, 49, 52, 65, 68, 97, 99, 130, 260}) {
        each_transposition<T>([&](Order<T> a, Order<T> b) {
          const auto c = turn++ % 3 == 0 ? Order<T>::col_major : Order<T>::row_major;
          if (thinned.takes(K, M, N, a, b, c)) numbers.check<T>(M, N, a, b, c, 1);
        });
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// As BLAS allows any leading dimension for a single row or column: none is used, nor overflows.
TYPED_TEST(GemmOf, AnyStrideAlongAnExtentOfOneIsAllowed) {
  using T = TypeParam;
  const std::vector<T> ones(300, T{1});
  for (const index_t degenerate : {index_t{1} << 62, std::numeric_limits<index_t>::max(),
                                   std::numeric_limits<index_t>::min()}) {
    for (const Shape s :
         {Shape{1, 300, 1}, {300, 1, 1}, {1, 1, 300}, {1, 20, 15}, {20, 1, 15}, {20, 15, 1}}) {
      for (const int threads : {1, 2}) {
        std::vector<T> C(static_cast<std::size_t>(s.M * s.N));
        cpu::Gemm<T> call;
        call.M = s.M, call.N = s.N, call.K = s.K, call.threads = threads;
        call.A = ones.data(), call.B = ones.data(), call.C = C.data();
        call.a_row = s.M == 1 ? degenerate : s.K, call.a_col = s.K == 1 ? degenerate : 1;
        call.b_row = s.K == 1 ? degenerate : s.N, call.b_col = s.N == 1 ? degenerate : 1;
        call.c_row = s.M == 1 ? degenerate : s.N, call.c_col = s.N == 1 ? degenerate : 1;
        (void)cpu::route_of(call);
        (void)cpu::workspace_bytes(call);
        cpu::gemm(call);
        for (const T c : C) ASSERT_EQ(c, static_cast<T>(s.K)) << describe(call);
        std::fill(C.begin(), C.end(), T{0});
        cpu::GemmPlan<T>{call}(call.A, call.B, call.C);
        for (const T c : C) ASSERT_EQ(c, static_cast<T>(s.K)) << "plan of " << describe(call);
        std::fill(C.begin(), C.end(), T{0});
        cpu::gemm(call, cpu::PackedMatrix<T>(call.B, s.K, s.N, call.b_row, call.b_col));
        for (const T c : C) ASSERT_EQ(c, static_cast<T>(s.K)) << "packed, " << describe(call);
      }
    }
  }
}

/// Few rows and few columns at once, whose lines are fewer than a vector has lanes, and few of one
/// beside more of the other than fill two: which way is taken depends on all three extents.
TYPED_TEST(GemmOf, IsExactForAFewRowsAndColumns) {
  using T = TypeParam;
  Thinned thinned(7);
  for (const index_t K : {3, 8, 9, 33, 64, 130}) {
    const WholeNumbers numbers(40, 40, K);
    int turn = 0;
    for (index_t M = 1; M <= 40; M += M < 20 ? 1 : 5) {
      for (index_t N = 1; N <= 40; N += N < 20 ? 1 : 5) {
        each_transposition<T>([&](Order<T> a, Order<T> b) {
          const auto c = turn++ % 3 == 0 ? Order<T>::col_major : Order<T>::row_major;
          if (thinned.takes(K, M, N, a, b, c)) numbers.check<T>(M, N, a, b, c, 1);
        });
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Shapes that go other ways than squares do, on any number of threads, transposed each way.
template <class T>
void expect_long_and_flat_shapes_exact() {
  Thinned thinned(3);  // of the four of each shape one or two
  for (const Shape s :
       {Shape{1, 997, 61}, {997, 1, 61},    {1, 4099, 300},  {4099, 1, 300},  {1, 1, 100003},
        {3, 5, 20011},     {61, 7, 5003},   {701, 503, 1},   {1021, 259, 3},  {16, 2053, 130},
        {2053, 16, 130},   {131, 257, 521}, {1, 401, 17},    {5, 700, 333},   {8, 431, 33},
        {9, 431, 129},     {16, 500, 1100}, {33, 641, 300},  {90, 401, 521},  {96, 388, 1030},
        {97, 500, 600},    {2, 1409, 333},  {700, 5, 333},   {641, 33, 300},  {257, 97, 1031},
        {200, 211, 199},   {23, 450, 1300}, {11, 4200, 130}, {131, 62, 4200}, {70, 31, 2100},
        {1, 385, 97},      {1, 449, 50},    {2, 193, 70},    {2, 403, 331},   {3, 777, 1300},
        {10, 100, 100},    {5, 130, 200},   {33, 113, 60},   {210, 3, 200},   {12, 3000, 300},
        {2, 1500, 700},    {7, 1024, 513},  {1, 500, 1100},  {2, 501, 1101},  {8, 490, 1200},
        {12, 505, 1090},   {70, 8200, 150}, {300, 1024, 260}}) {
    const WholeNumbers numbers(s.M, s.N, s.K);
    int turn = 0;
    each_transposition<T>([&](Order<T> a, Order<T> b) {
      const auto c = turn % 2 == 0 ? Order<T>::row_major : Order<T>::col_major;
      const int threads = kThreads[static_cast<std::size_t>(turn++ % 4)];
      if (thinned.takes(a, b, threads)) numbers.check<T>(s.M, s.N, a, b, c, threads);
    });
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(GemmOf, IsExactForLongAndFlatShapes) { expect_long_and_flat_shapes_exact<TypeParam>(); }

/// What passes by once in one machine stays in the caches of another, and is cut otherwise.
TYPED_TEST(GemmOf, IsExactInCachesOfAnySize) {
  for (const cpu::Caches& assumed :
       {cpu::Caches{16 << 10, 64 << 10, 1 << 20}, cpu::Caches{48 << 10, 1 << 20, 32 << 20},
        cpu::Caches{48 << 10, 2 << 20}}) {
    const cpu::Caches before = cpu::assume_caches(assumed);
    expect_long_and_flat_shapes_exact<TypeParam>();
    cpu::assume_caches(before);
    if (this->HasFailure()) FAIL() << "with an L2 of " << assumed.l2 << " bytes";
  }
}

TYPED_TEST(GemmOf, IsExactBeyondOneBlockOfC) {
  using T = TypeParam;
  const auto row = Order<T>::row_major, col = Order<T>::col_major;
  WholeNumbers(4099, 37, 9).check<T>(4099, 37, row, row, row, 2);
  WholeNumbers(37, 4099, 9).check<T>(37, 4099, col, row, row, 2);
  WholeNumbers(21, 5003, 521).check<T>(21, 5003, row, col, Order<T>::spread, 3);
  WholeNumbers(4098, 4097, 1).check<T>(4098, 4097, row, row, row, 2);
}

/// Deep, and larger than a block of C one way: panels of A are packed, shared and packed again. B
/// has two numbers in each column, so that the exact result is cheap.
TYPED_TEST(GemmOf, LargeAndDeepProductsAreExact) {
  using T = TypeParam;
  if (vector_path() == VectorPath::portable)
    GTEST_SKIP() << "six billion multiply-adds take minutes without vector instructions";
  const auto check = [](Shape s, int threads, index_t padding_of_b = 3) {
    Guarded<T> A(s.M, s.K), B(s.K, s.N, Order<T>::row_major, padding_of_b), C(s.M, s.N);
    A.fill(RandomData(1, true));
    B.fill([](index_t, index_t) { return 0; });
    const auto first = [&](index_t j) { return (j * 7919 + 13) % s.K; };
    const auto second = [&](index_t j) { return s.K - 1 - first(j); };
    for (index_t j = 0; j < s.N; ++j) B(first(j), j) += T{3}, B(second(j), j) -= T{5};
    multiply<T>({.threads = threads}, A.view(), B.view(), C.view());
    const std::string wrong = difference(C, [&](index_t i, index_t j) {
      return T{0} + (T{3} * A(i, first(j)) - T{5} * A(i, second(j)));
    });
    EXPECT_EQ(wrong, "") << s.M << "x" << s.N << "x" << s.K << " threads " << threads;
    EXPECT_TRUE(C.guards_intact());
  };
  for (const int threads : kThreads) {
    check({300, 700, 1600}, threads);
    check({648, 768, 1040}, threads, 0);  // rows of B that lie in few sets of L2
  }
  for (const int threads : {1, 3}) {
    check({4200, 500, 530}, threads);
    check({500, 4200, 530}, threads);
  }
}

}  // namespace
}  // namespace tessera
