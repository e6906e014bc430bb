// The packed path against two references: exact sums of whole numbers over every kind of shape, and
// the chain of fused multiply-adds, bit for bit, for every stride, epilogue and number of threads.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "blocking.hpp"
#include "cpu/gemm_route.hpp"
#include "cpu/multiply.hpp"
#include "support/sanitizers.hpp"
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
using testing::reference;
using testing::Shape;

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
  int turn = 0;
  for (const index_t K : {1, 3, 49}) {
    const WholeNumbers numbers(17, 99, K);
    for (index_t M = 0; M <= 17; ++M) {
      for (index_t N = 0; N <= 99; N == 66 ? N = 95 : ++N) {
        each_transposition<T>([&](Order<T> a, Order<T> b) {
          numbers.check<T>(M, N, a, b, testing::kOrders<T>[static_cast<std::size_t>(turn++ % 5)],
                           1);
        });
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(GemmOf, IsExactForEveryDepth) {
  using T = TypeParam;
  // Around powers of two, and around the depths of KC blocks that L1 caches of 32 and 48 KiB give.
  for (const index_t K :
       {0,   2,   7,   8,   9,   31,   33,   64,   127,  128,  129,  170,  171,  172, 255,
        256, 257, 340, 341, 342, 384,  385,  509,  511,  512,  513,  682,  683,  684, 767,
        768, 769, 800, 997, 999, 1000, 1023, 1024, 1025, 1027, 1365, 1537, 2051, 3001}) {
    const WholeNumbers numbers(9, 55, K);
    each_transposition<T>([&](Order<T> a, Order<T> b) {
      numbers.check<T>(9, 55, a, b, Order<T>::row_major, K % 2 == 0 ? 1 : 2);
    });
    if (::testing::Test::HasFailure()) return;
  }
}

/// Few rows, few columns, and few of them left beyond whole vectors: made by one thread alone.
TYPED_TEST(GemmOf, IsExactForSmallProductsOfAnySides) {
  using T = TypeParam;
  for (const index_t K : {7, 16, 100, 257}) {
    const WholeNumbers numbers(260, 260, K);
    int turn = 0;
    for (const index_t M : {1, 2, 3, 8, 9, 23, 24, 33, 100, 256, 260}) {
      for (const index_t N : {1, 2, 4, 5, 8, 9, 17, 33, 36, 37, 49, 52, 65, 68, 97, 99, 130, 260}) {
        each_transposition<T>([&](Order<T> a, Order<T> b) {
          const auto c = turn++ % 3 == 0 ? Order<T>::col_major : Order<T>::row_major;
          numbers.check<T>(M, N, a, b, c, 1);
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
  for (const index_t K : {3, 8, 9, 33, 64, 130}) {
    const WholeNumbers numbers(40, 40, K);
    int turn = 0;
    for (index_t M = 1; M <= 40; M += M < 20 ? 1 : 5) {
      for (index_t N = 1; N <= 40; N += N < 20 ? 1 : 5) {
        each_transposition<T>([&](Order<T> a, Order<T> b) {
          const auto c = turn++ % 3 == 0 ? Order<T>::col_major : Order<T>::row_major;
          numbers.check<T>(M, N, a, b, c, 1);
        });
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Shapes that go other ways than squares do, on any number of threads, transposed each way.
template <class T>
void expect_long_and_flat_shapes_exact() {
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
      numbers.check<T>(s.M, s.N, a, b, c, kThreads[static_cast<std::size_t>(turn++ % 4)]);
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

/// Random operands and what the reference makes of them.
template <class T>
struct Product {
  Guarded<T> A, B, C0, C;
  std::vector<T> row_bias, column_bias;

  Product(Shape s, Order<T> a = Order<T>::row_major, Order<T> b = Order<T>::row_major,
          Order<T> c = Order<T>::row_major)
      : A(s.M, s.K, a),
        B(s.K, s.N, b),
        C0(s.M, s.N, c),
        C(C0),
        row_bias(static_cast<std::size_t>(s.M)),
        column_bias(static_cast<std::size_t>(s.N)) {
    A.fill(RandomData(1));
    B.fill(RandomData(2));
    C0.fill(RandomData(3));
    RandomData bias(4);
    for (T& x : row_bias) x = static_cast<T>(bias(0, 0));
    for (T& x : column_bias) x = static_cast<T>(bias(0, 0));
  }
  Guarded<T> expected(const cpu::Gemm<T>& call) {
    Guarded<T> out = C0;
    reference(call, A.view(), B.view(), out.view());
    return out;
  }
  /// Multiplies and compares. C starts as NaN where it must not be read.
  void check(const cpu::Gemm<T>& call, const Guarded<T>& expected) {
    if (call.beta == T{0}) C.fill([](index_t, index_t) { return Guarded<T>::guard(); });
    else C = C0;
    multiply(call, A.view(), B.view(), C.view());
    const std::string wrong = difference(C, expected);
    if (wrong.empty() && C.guards_intact()) return;
    ADD_FAILURE() << describe(call_on(call, A.view(), B.view(), C.view())) << ": "
                  << (wrong.empty() ? "wrote outside of C" : wrong);
  }
  cpu::Gemm<T> with(Bias bias, cpu::Gemm<T> call) const {
    call.bias = {bias, bias == Bias::per_row ? row_bias.data() : column_bias.data()};
    return call;
  }
};

/// With caches so small that stores of a shallow product pass them, with an epilogue or without.
TYPED_TEST(GemmOf, ALargeCIsRightWhereverItBegins) {
  using T = TypeParam;
  const cpu::Caches before = cpu::assume_caches({16 << 10, 64 << 10, 64 << 10});
  const Shape s{300, 448, 20};
  Product<T> p(s);
  std::vector<T> buffer(static_cast<std::size_t>(s.M * s.N + 64));
  const auto boundary = static_cast<std::size_t>(
      (64 - reinterpret_cast<std::uintptr_t>(buffer.data()) % 64) % 64 / sizeof(T));
  for (const std::size_t begin : {0, 1, 3, 4, 15}) {
    const Matrix C(buffer.data() + boundary + begin, dtype_of<T>(), s.M, s.N, s.N);
    for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
      for (const auto& plain :
           {cpu::Gemm<T>{}, cpu::Gemm<T>{.alpha = T(0.7)}, cpu::Gemm<T>{.beta = T(-1)},
            cpu::Gemm<T>{.last = {Activation::gelu}}}) {
        for (const int threads : {1, 2}) {
          cpu::Gemm<T> call = p.with(bias, plain);
          call.threads = threads;
          std::fill(buffer.begin(), buffer.end(), Guarded<T>::guard());
          for (index_t i = 0; i < s.M && call.beta != T{0}; ++i) {
            for (index_t j = 0; j < s.N; ++j) static_cast<T*>(C.data)[i * s.N + j] = p.C0(i, j);
          }
          const Guarded<T> expected = p.expected(call);
          multiply(call, p.A.view(), p.B.view(), C);
          for (std::size_t at = 0; at < buffer.size(); ++at) {
            const index_t n = static_cast<index_t>(at - boundary - begin);
            const bool outside = at < boundary + begin || n >= s.M * s.N;
            const T want = outside ? Guarded<T>::guard() : expected(n / s.N, n % s.N);
            ASSERT_TRUE(testing::same(buffer[at], want))
                << describe(call_on(call, p.A.view(), p.B.view(), C)) << " begins at " << begin
                << ", element " << n;
          }
        }
      }
    }
  }
  cpu::assume_caches(before);
}

/// So many rows that the columns before the first boundary would themselves pass the caches.
TYPED_TEST(GemmOf, ATallCIsRightWhereverItBegins) {
  using T = TypeParam;
  const cpu::Caches before = cpu::assume_caches({16 << 10, 64 << 10, 64 << 10});
  const Shape s{40'000, 64, 3};
  Product<T> p(s);
  const Guarded<T> expected = p.expected({});
  std::vector<T> buffer(static_cast<std::size_t>(s.M * s.N + 64));
  const auto boundary = static_cast<std::size_t>(
      (64 - reinterpret_cast<std::uintptr_t>(buffer.data()) % 64) % 64 / sizeof(T));
  for (const std::size_t begin : {1, 4}) {
    const Matrix C(buffer.data() + boundary + begin, dtype_of<T>(), s.M, s.N, s.N);
    multiply<T>({}, p.A.view(), p.B.view(), C);
    for (index_t i = 0; i < s.M * s.N; ++i)
      ASSERT_TRUE(testing::same(static_cast<T*>(C.data)[i], expected(i / s.N, i % s.N))) << i;
  }
  cpu::assume_caches(before);
}

TYPED_TEST(GemmOf, EveryEpilogueHasTheBitsOfTheReference) {
  using T = TypeParam;
  for (const Shape s : {Shape{7, 9, 11},
                        {19, 50, 60},
                        {13, 101, 530},
                        {8, 400, 40},
                        {2, 1300, 260},
                        {24, 144, 260}}) {
    Product<T> row(s), col(s, Order<T>::col_major, Order<T>::col_major, Order<T>::col_major);
    Product<T> spread(s, Order<T>::row_major, Order<T>::row_major, Order<T>::spread);
    for (const T alpha : {T(0), T(1), T(-1), T(0.7)}) {
      for (const T beta : {T(0), T(1), T(-1), T(0.7)}) {
        for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
          for (const LastStep<T>& last : {LastStep<T>{},
                                          {Activation::relu},
                                          {Activation::gelu},
                                          {Activation::silu},
                                          {Activation::none, T(-0.5), T(0.25)},
                                          {Activation::gelu, kLeast<T>, T(0.5)}}) {
            const cpu::Gemm<T> call{.alpha = alpha, .beta = beta, .last = last, .threads = 1};
            const auto expected = row.expected(row.with(bias, call));
            row.check(row.with(bias, call), expected);
            col.check(col.with(bias, call), expected);
            spread.check(spread.with(bias, call), expected);
          }
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TYPED_TEST(GemmOf, EveryStrideHasTheBitsOfTheReference) {
  using T = TypeParam;
  for (const Shape s : {Shape{7, 9, 11},
                        {19, 50, 60},
                        {41, 67, 530},
                        {8, 401, 60},
                        {30, 390, 260},
                        {24, 97, 300},
                        {2, 390, 131}}) {
    const cpu::Gemm<T> plain{.threads = 1};
    cpu::Gemm<T> full{.alpha = T(0.7), .beta = T(-1), .last = {Activation::relu}, .threads = 2};
    Product<T> first(s);
    const auto expected = first.expected(plain);
    const auto expected_full = first.expected(first.with(Bias::per_column, full));
    for (const auto a : testing::kOrders<T>) {
      for (const auto b : testing::kOrders<T>) {
        for (const auto c : testing::kOrders<T>) {
          Product<T> product(s, a, b, c);
          product.check(plain, expected);
          product.check(product.with(Bias::per_column, full), expected_full);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(GemmOf, AnyNumberOfThreadsGivesTheSameBits) {
  using T = TypeParam;
  for (const Shape s :
       {Shape{50, 61, 70}, {203, 307, 530}, {8, 1500, 600}, {1500, 8, 600}, {90, 400, 1100}}) {
    Product<T> product(s, Order<T>::row_major,
                       s.N == 400 ? Order<T>::col_major : Order<T>::row_major);
    const cpu::Gemm<T> plain{}, full{.alpha = T(0.7), .beta = T(0.7)};
    const auto expected = product.expected(plain), expected_full = product.expected(full);
    for (int round = 0; round < testing::repetitions(4); ++round) {
      for (const int threads : {1, 2, 3, 5, 64, 0}) {
        auto call = plain, call_full = full;
        call.threads = call_full.threads = threads;
        product.check(call, expected);
        product.check(call_full, expected_full);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(GemmOf, TheSameMatrixTwiceAndRepeatedElementsAreLegal) {
  using T = TypeParam;
  Product<T> square({60, 60, 60});
  const ConstMatrix A = square.A.view();
  Guarded<T> expected(60, 60);
  reference<T>({}, A, transposed(A), expected.view());
  multiply<T>({}, A, transposed(A), square.C.view());
  EXPECT_EQ(difference(square.C, expected), "");

  // One row for all of A, one number for all of B.
  const ConstMatrix row(A.data, A.dtype, 60, 60, 0, 1), number(A.data, A.dtype, 60, 60, 0, 0);
  reference<T>({}, row, number, expected.view());
  multiply<T>({}, row, number, square.C.view());
  EXPECT_EQ(difference(square.C, expected), "");
}

/// Anonymous memory that costs nothing where it is not touched.
template <class T>
class Sparse {
 public:
  Sparse(index_t rows, index_t cols, index_t row_stride)
      : rows_(rows),
        cols_(cols),
        row_stride_(row_stride),
        bytes_(static_cast<std::size_t>(rows * std::abs(row_stride) + cols) * sizeof(T)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() {
    if (*this) munmap(data_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  explicit operator bool() const { return data_ != MAP_FAILED; }
  Matrix view() {
    T* first = static_cast<T*>(data_) + (row_stride_ < 0 ? (1 - rows_) * row_stride_ : 0);
    return {first, dtype_of<T>(), rows_, cols_, row_stride_, 1};
  }

 private:
  index_t rows_, cols_, row_stride_;
  std::size_t bytes_;
  void* data_;
};

template <class T>
void copy_to(const Guarded<T>& from, const Matrix& to) {
  for (index_t i = 0; i < from.rows(); ++i) {
    for (index_t j = 0; j < from.cols(); ++j)
      static_cast<T*>(to.data)[i * to.row_stride + j * to.col_stride] = from(i, j);
  }
}

/// Larger than the caches: stored past them where rows of C lie on whole vectors, and right where
/// they do not.
TYPED_TEST(GemmOf, ALargeCIsExactOnAndOffWholeVectors) {
  using T = TypeParam;
  struct Case {
    Shape s;
    index_t padding, offset;  // of rows, beyond a multiple of 64 elements; of the first element
  };
  for (const auto& [s, padding, offset] : {Case{{2100, 2160, 3}, 0, 0},
                                           {{2101, 2151, 17}, 0, 0},
                                           {{4100, 1100, 5}, 0, 0},
                                           {{2100, 2160, 3}, 0, 1},
                                           {{2100, 2160, 3}, 8, 0}}) {
    Guarded<T> A(s.M, s.K), B(s.K, s.N);
    A.fill(RandomData(1, true));
    B.fill(RandomData(2, true));
    std::vector<T> expected(static_cast<std::size_t>(s.M * s.N));  // (M,N), by rows
    for (index_t i = 0; i < s.M; ++i) {
      for (index_t k = 0; k < s.K; ++k) {
        const T a = A(i, k), *const b = &B(k, 0);
        for (index_t j = 0; j < s.N; ++j)
          expected[static_cast<std::size_t>(i * s.N + j)] += a * b[j];
      }
    }
    const index_t apart = (s.N + 63) / 64 * 64 + padding;
    Sparse<T> memory(s.M, s.N + offset, apart);
    ASSERT_TRUE(memory);
    T* got = static_cast<T*>(memory.view().data) + offset;
    for (const int threads : {1, 3}) {
      std::memset(got, 0xFF, static_cast<std::size_t>(s.M * apart) * sizeof(T));  // NaN
      multiply<T>({.threads = threads}, A.view(), B.view(), {got, dtype_of<T>(), s.M, s.N, apart});
      index_t wrong = 0;
      for (index_t i = 0; i < s.M; ++i) {
        const T* want = expected.data() + i * s.N;
        for (index_t j = 0; j < s.N; ++j) wrong += got[i * apart + j] != want[j];
        for (index_t j = s.N; j < apart; ++j) wrong += got[i * apart + j] == got[i * apart + j];
      }
      EXPECT_EQ(wrong, 0) << s.M << "x" << s.N << "x" << s.K << " threads " << threads;
    }
  }
}

TYPED_TEST(GemmOf, RowsFurtherApartThanTwoToThe31Elements) {
  using T = TypeParam;
  for (const Shape s : {Shape{3, 5, 4}, {20, 60, 50}}) {
    for (const index_t apart : {(index_t{1} << 31) + 8, -(index_t{1} << 31) - 8}) {
      Sparse<T> A(s.M, s.K, apart), B(s.K, s.N, apart), C(s.M, s.N, apart);
      if (!A || !B || !C) GTEST_SKIP() << "no address space for rows 2^31 elements apart";
      Product<T> product(s);
      const cpu::Gemm<T> call{.alpha = T(0.7), .beta = T(0.7), .threads = 2};
      const auto expected = product.expected(call);
      copy_to(product.A, A.view());
      copy_to(product.B, B.view());
      copy_to(product.C0, C.view());
      multiply(call, A.view(), B.view(), C.view());
      const Matrix got = C.view();
      for (index_t i = 0; i < s.M; ++i) {
        for (index_t j = 0; j < s.N; ++j)
          ASSERT_EQ(static_cast<T*>(got.data)[i * apart + j], expected(i, j)) << i << "," << j;
      }
    }
  }
}

RC_GTEST_PROP(Gemm, RandomCallsHaveTheBitsOfTheReference, ()) {
  const auto pick = [](index_t below) { return *rc::gen::inRange<index_t>(0, below); };
  // Every order of magnitude up to 1000 is as likely; four million multiply-adds at most.
  const auto extent = [&](double most) {
    const index_t chosen = pick(100);
    return chosen == 0 ? 0 : static_cast<index_t>(std::pow(most, static_cast<double>(chosen) / 99));
  };
  Shape s{extent(1000), extent(1000), 0};
  s.K = extent(std::min(1200.0, 4e6 / static_cast<double>(std::max<index_t>(1, s.M * s.N))));
  const auto order = [&] { return testing::kOrders<float>[static_cast<std::size_t>(pick(5))]; };
  Product<float> product(s, order(), order(), order());
  const auto scalar = [] { return *rc::gen::element(0.f, 1.f, -1.f, 0.7f); };
  const auto call = product.with(*rc::gen::element(Bias::none, Bias::per_row, Bias::per_column),
                                 {.alpha = scalar(),
                                  .beta = scalar(),
                                  .last = {*rc::gen::element(Activation::none, Activation::relu)},
                                  .threads = *rc::gen::element(0, 1, 2, 3, 5)});
  product.check(call, product.expected(call));
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace tessera
