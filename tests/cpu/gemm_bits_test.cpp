// The packed path against the chain of fused multiply-adds, bit for bit, for every stride, epilogue
// and number of threads.
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
using testing::multiply;
using testing::Order;
using testing::RandomData;
using testing::reference;
using testing::Shape;
using testing::Thinned;

template <class T>
class GemmBits : public ::testing::Test {};
TYPED_TEST_SUITE(GemmBits, testing::RealTypes, testing::TypeNames);

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
TYPED_TEST(GemmBits, ALargeCIsRightWhereverItBegins) {
  using T = TypeParam;
  const cpu::Caches before = cpu::assume_caches({16 << 10, 64 << 10, 64 << 10});
  Thinned thinned(7);
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
          if (!thinned.takes(begin, bias, 10 * call.alpha, call.beta, call.last.activation,
                             threads))
            continue;
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
TYPED_TEST(GemmBits, ATallCIsRightWhereverItBegins) {
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

TYPED_TEST(GemmBits, EveryEpilogueHasTheBitsOfTheReference) {
  using T = TypeParam;
  Thinned thinned(7);
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
            if (!thinned.takes(s.M, 10 * alpha, 10 * beta, bias, last.activation, last.high < 1))
              continue;
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

TYPED_TEST(GemmBits, EveryStrideHasTheBitsOfTheReference) {
  using T = TypeParam;
  Thinned thinned(7);
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
          if (!thinned.takes(s.M, a, b, c)) continue;
          Product<T> product(s, a, b, c);
          product.check(plain, expected);
          product.check(product.with(Bias::per_column, full), expected_full);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(GemmBits, AnyNumberOfThreadsGivesTheSameBits) {
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

TYPED_TEST(GemmBits, TheSameMatrixTwiceAndRepeatedElementsAreLegal) {
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
TYPED_TEST(GemmBits, ALargeCIsExactOnAndOffWholeVectors) {
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

TYPED_TEST(GemmBits, RowsFurtherApartThanTwoToThe31Elements) {
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
