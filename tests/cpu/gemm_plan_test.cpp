// A plan gives the bits of the call that it was made from, for tiny and larger shapes, every order
// of strides and every type, again and again, from any number of threads.
#include "tessera/cpu/gemm_plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "cpu/multiply.hpp"
#include "support/thinned.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;
using testing::Thinned;

template <class Pair>
class GemmPlans : public ::testing::Test {};

template <class In_, class Out_ = In_>
struct From {
  using In = In_;
  using Out = Out_;
};
using Types = ::testing::Types<From<double>, From<float>, From<float, bf16>, From<f16>,
                               From<f16, float>, From<bf16>, From<bf16, float>,
                               From<std::int8_t, std::int32_t>, From<std::int8_t, float>,
                               From<std::uint8_t, std::int32_t>, From<std::uint8_t, float>>;
TYPED_TEST_SUITE(GemmPlans, Types);

template <class In, class Out>
void expect_same(index_t M, index_t N, index_t K, typename Guarded<In>::Order a_order,
                 typename Guarded<In>::Order b_order, typename Guarded<Out>::Order c_order,
                 const cpu::Gemm<In, Out>& scalars) {
  const bool whole = std::is_integral_v<In>;
  Guarded<In> A(M, K, a_order), B(K, N, b_order);
  Guarded<Out> C(M, N, c_order), expected(M, N, c_order);
  const cpu::GemmPlan<In, Out> plan(testing::call_on(scalars, A.view(), B.view(), C.view()));
  for (std::uint64_t seed : {1u, 2u}) {
    A.fill(RandomData(seed, whole)), B.fill(RandomData(seed + 10, whole));
    C.fill(RandomData(seed + 20, whole)), expected.fill(RandomData(seed + 20, whole));
    plan(static_cast<const In*>(A.view().data), static_cast<const In*>(B.view().data),
         static_cast<Out*>(C.view().data));
    testing::multiply(scalars, A.view(), B.view(), expected.view());
    ASSERT_EQ(testing::difference(C, expected), "") << M << "x" << N << "x" << K;
    ASSERT_TRUE(C.guards_intact());
  }
}

TYPED_TEST(GemmPlans, GiveTheBitsOfTheCall) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  using A = typename Guarded<In>::Order;
  using C = typename Guarded<Out>::Order;
  Thinned thinned(7);
  for (index_t M : {0, 1, 4, 7, 8, 9, 16, 33, 48, 49}) {
    for (index_t N : {0, 1, 4, 7, 8, 9, 16, 24, 25, 47, 48, 50}) {
      for (index_t K : {0, 1, 4, 17, 48, 60}) {
        if (thinned.takes(M, N, K))
          expect_same<In, Out>(M, N, K, A::row_major, A::row_major, C::row_major, {});
      }
    }
  }
}

TYPED_TEST(GemmPlans, TakeStridesAndEpilogues) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  cpu::Gemm<In, Out> scaled, added, alone;
  scaled.alpha = Scalar(2), scaled.beta = Scalar(3);
  const std::vector<Scalar> bias(50, Scalar(1));
  added.bias = {Bias::per_row, bias.data()}, added.last.activation = Activation::relu;
  alone.threads = 1;
  for (const auto& call : {cpu::Gemm<In, Out>{}, scaled, added, alone}) {
    for (const auto a : testing::kOrders<In>) {
      for (const auto b : testing::kOrders<In>) {
        for (const auto c : testing::kOrders<Out>) expect_same<In, Out>(9, 12, 10, a, b, c, call);
      }
    }
  }
}

TEST(GemmPlan, MayBeCalledByManyThreadsAtOnce) {
  constexpr index_t n = 8;
  Guarded<float> A(n, n), B(n, n), expected(n, n);
  A.fill(RandomData(1)), B.fill(RandomData(2));
  testing::multiply(cpu::Gemm<float>{}, A.view(), B.view(), expected.view());
  std::vector<Guarded<float>> results(8, Guarded<float>(n, n));
  const cpu::GemmPlan<float> plan(
      testing::call_on(cpu::Gemm<float>{}, A.view(), B.view(), results[0].view()));
  std::vector<std::thread> threads;
  for (auto& C : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        plan(static_cast<const float*>(A.view().data), static_cast<const float*>(B.view().data),
             static_cast<float*>(C.view().data));
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& C : results) EXPECT_EQ(testing::difference(C, expected), "");
}

template <class T>
class GemmIfTiny : public ::testing::Test {};
TYPED_TEST_SUITE(GemmIfTiny, testing::RealTypes, testing::TypeNames);

TYPED_TEST(GemmIfTiny, GivesTheBitsOfTheCallOrTouchesNothing) {
  using T = TypeParam;
  Thinned thinned(5);
  int taken = 0, refused = 0;
  struct Factors {
    T alpha, beta;
  };
  for (index_t M : {1, 4, 7, 8, 9, 48, 49, 256, 257}) {
    for (index_t N : {1, 4, 7, 8, 9, 16, 24, 25, 32, 33, 48, 50, 64, 65}) {
      for (index_t K : {1, 4, 17, 48, 60, 256, 257}) {
        for (const auto order : {Guarded<T>::Order::row_major, Guarded<T>::Order::col_major}) {
          if (!thinned.takes(M, N, K, order)) continue;
          const auto [alpha, beta] =
              std::array{Factors{1, 0}, Factors{-1, 1}, Factors{3, 0}, Factors{0.1f, -2},
                         Factors{1, 1}}[(taken + refused) % 5];
          Guarded<T> A(M, K, order), B(K, N), C(M, N), expected(M, N);
          A.fill(RandomData(1)), B.fill(RandomData(2));
          C.fill(RandomData(3)), expected.fill(RandomData(3));
          const ConstMatrix a = A.view(), b = B.view();
          const Matrix c = C.view();
          const bool done =
              cpu::gemm_if_tiny(M, N, K, static_cast<const T*>(a.data), a.row_stride, a.col_stride,
                                static_cast<const T*>(b.data), b.row_stride,
                                static_cast<T*>(c.data), c.row_stride, alpha, beta);
          (done ? taken : refused) += 1;
          cpu::Gemm<T> call;
          call.alpha = alpha, call.beta = beta;
          if (done) testing::multiply<T>(call, a, b, expected.view());
          ASSERT_EQ(testing::difference(C, expected), "") << M << "x" << N << "x" << K;
          ASSERT_TRUE(C.guards_intact());
        }
      }
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace tessera
