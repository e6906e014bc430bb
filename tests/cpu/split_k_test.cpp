// Split K: right within the bound for every type, order of strides and epilogue; exact for whole
// numbers; the same bits for any number of threads; one part is gemm() itself.
#include "tessera/cpu/split_k.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "cpu/multiply.hpp"
#include "support/thinned.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::kThreads;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

template <class In, class Out>
void split(const cpu::Gemm<In, Out>& call, Guarded<In>& A, Guarded<In>& B, Guarded<Out>& C) {
  cpu::gemm_split_k(testing::call_on(call, A.view(), B.view(), C.view()));
}

template <class In, class Out>
void expect_right(Shape s, const cpu::Gemm<In, Out>& call, bool whole, Thinned& thinned) {
  for (const auto a : {testing::Order<In>::row_major, testing::Order<In>::col_major}) {
    for (const auto c : {testing::Order<Out>::row_major, testing::Order<Out>::spread}) {
      if (!thinned.takes(s.M, s.K, call.beta, a, c)) continue;
      Guarded<In> A(s.M, s.K, a), B(s.K, s.N);
      Guarded<Out> C(s.M, s.N, c);
      A.fill(RandomData(1, whole)), B.fill(RandomData(2, whole));
      if (call.beta != 0) C.fill(RandomData(3, whole));
      Guarded<Out> before = C;
      split(call, A, B, C);
      const Problem problem = testing::problem_of(call, A.view(), B.view(), C.view());
      const auto found =
          Verifier(problem, A.view(), B.view(), before.view(), call.bias.values, 1).check(C.view());
      EXPECT_TRUE(found.within_bound) << to_string(problem) << ": " << found.max_error_ratio;
      if (whole) {
        EXPECT_TRUE(found.same_bits) << to_string(problem);
      }
      EXPECT_TRUE(C.guards_intact());
    }
  }
}

template <class In, class Out>
void expect_every_shape_right() {
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  const bool integers = std::is_integral_v<In>;
  Thinned thinned(5);
  const std::vector<Scalar> bias(200, Scalar(1));
  for (const Shape s : {Shape{0, 3, 2000},
                        {3, 0, 2000},
                        {5, 4, 0},
                        {1, 1, 1023},
                        {1, 1, 525000},
                        {7, 9, 9000},
                        {64, 64, 4099},
                        {130, 50, 1600}}) {
    cpu::Gemm<In, Out> call;
    expect_right(s, call, integers, thinned);
    call.alpha = Scalar(2), call.beta = Scalar(-1), call.bias = {Bias::per_column, bias.data()};
    call.last.activation = Activation::relu;
    expect_right(s, call, integers, thinned);
  }
}

TEST(SplitK, IsRightForEveryTypeAndShape) {
  expect_every_shape_right<double, double>();
  expect_every_shape_right<float, float>();
  expect_every_shape_right<float, f16>();
  expect_every_shape_right<f16, f16>();
  expect_every_shape_right<f16, float>();
  expect_every_shape_right<bf16, bf16>();
  expect_every_shape_right<bf16, float>();
  expect_every_shape_right<std::int8_t, std::int32_t>();
  expect_every_shape_right<std::int8_t, float>();
  expect_every_shape_right<std::uint8_t, std::int32_t>();
  expect_every_shape_right<std::uint8_t, float>();
}

TEST(SplitK, WholeNumbersAreExact) {
  Thinned all(1);
  expect_right<float, float>({33, 65, 5000}, {}, true, all);
  expect_right<double, double>({33, 65, 5000}, {}, true, all);
}

TEST(SplitK, AnyNumberOfThreadsGivesTheSameBits) {
  Guarded<float> A(40, 9000), B(9000, 70), first(40, 70), C(40, 70);
  A.fill(RandomData(1)), B.fill(RandomData(2));
  split<float, float>({.threads = 1}, A, B, first);
  for (const int threads : kThreads) {
    split<float, float>({.threads = threads}, A, B, C);
    EXPECT_EQ(testing::difference(C, first), "") << threads;
  }
}

TEST(SplitK, TheSumsOfThePartsAreAddedInOrder) {
  constexpr index_t M = 3, N = 5, K = 40000;
  const index_t depth = cpu::split_k_depth(M, N, K);
  ASSERT_LT(depth, K);
  Guarded<float> A(M, K), B(K, N), C(M, N), expected(M, N);
  A.fill(RandomData(1)), B.fill(RandomData(2));
  split<float, float>({}, A, B, C);
  for (index_t i = 0; i < M; ++i) {
    for (index_t j = 0; j < N; ++j) {
      float total = 0;
      for (index_t k0 = 0; k0 < K; k0 += depth) {
        float sum = 0;
        for (index_t k = k0; k < std::min(K, k0 + depth); ++k)
          sum = std::fma(A(i, k), B(k, j), sum);
        total = k0 == 0 ? sum : total + sum;
      }
      expected(i, j) = total;
    }
  }
  EXPECT_EQ(testing::difference(C, expected), "");
}

TEST(SplitK, TheCutDependsOnTheShapeAndIsBounded) {
  EXPECT_GE(cpu::split_k_depth(64, 64, 1023), 1023);
  EXPECT_GE(cpu::split_k_depth(8, 8, 8000), 8000);  // two parts would have too little to do
  EXPECT_EQ(cpu::split_k_depth(8, 8, 8192), 4096);
  EXPECT_EQ(cpu::split_k_depth(64, 64, 65536), 1024);
  EXPECT_EQ(cpu::split_k_depth(4096, 4096, 65536), 65536);  // room for one part only
  EXPECT_GE(cpu::split_k_depth(1, 1, 0), 0);
}

}  // namespace
}  // namespace tessera
