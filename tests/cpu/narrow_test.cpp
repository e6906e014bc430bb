// Products of f16 and bf16: the f32 chain of their values; where the CPU multiplies pairs of bf16,
// exact data stay exact and all others within the bound.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/small_products.hpp"
#include "cpu/tables.hpp"
#include "support/guard_pages.hpp"
#include "support/thinned.hpp"
#include "tessera/cpu/packed_matrix.hpp"

namespace tessera {
namespace {

using testing::Against;
using testing::call_on;
using testing::describe;
using testing::difference;
using testing::Guarded;
using testing::kOrders;
using testing::kSmallProducts;
using testing::kThreads;
using testing::multiply;
using testing::Order;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

/// Against the conversion of the library: halves and neighbours of halves, subnormals, overflow,
/// infinities, NaN of both signs.
template <class To, class Table>
void expect_narrow_is_convert(const Table& table) {
  std::vector<float> from;
  for (std::uint32_t upper = 0; upper < 0x10000u; ++upper) {
    for (const std::uint32_t lower :
         {0x0000u, 0x0001u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      from.push_back(std::bit_cast<float>(upper << 16 | lower));
  }
  std::vector<To> to(from.size());
  for (const std::size_t part : {1u, 7u, 61u}) {  // whole vectors and what is left of one
    for (std::size_t at = 0; at < from.size(); at += part) {
      const auto count = static_cast<int>(std::min(part, from.size() - at));
      table.narrow(reinterpret_cast<typename Table::Source*>(to.data() + at), from.data() + at,
                   count);
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      const To expected = convert<To>(from[i]);
      ASSERT_TRUE(testing::same(to[i], expected))
          << table.isa << ": " << from[i] << " gave " << static_cast<float>(to[i]);
    }
  }
}

TEST(NarrowKernels, RoundAsTheLibraryDoes) {
  for (const cpu::KernelSet* set : testing::runnable_sets()) {
    expect_narrow_is_convert<f16>(set->f16);
    expect_narrow_is_convert<bf16>(set->bf16);
  }
}

template <class In_, class Out_>
struct Into {
  using In = In_;
  using Out = Out_;
};
struct IntoNames {
  template <class T>
  static std::string GetName(int) {
    return cat(name(dtype_of<typename T::In>()), "_into_", name(dtype_of<typename T::Out>()));
  }
};

template <class T>
class Narrow : public ::testing::Test {};
using NarrowTypes =
    ::testing::Types<Into<f16, f16>, Into<f16, float>, Into<bf16, bf16>, Into<bf16, float>>;
TYPED_TEST_SUITE(Narrow, NarrowTypes, IntoNames);

/// Are the bits those of the f32 chain?
template <class In>
bool keeps_the_chain() {
  if constexpr (std::is_same_v<In, f16>) return cpu::f16_keeps_the_chain();
  return !std::is_same_v<In, bf16> || cpu::bf16_keeps_the_chain();
}

template <class In, class Out>
void expect_right(Shape s, Order<In> a, Order<In> b, Order<Out> c, const cpu::Gemm<In, Out>& call,
                  bool whole, index_t padding = 3) {
  Guarded<In> A(s.M, s.K, a, padding), B(s.K, s.N, b);
  Guarded<Out> C(s.M, s.N, c);
  A.fill(RandomData(1, whole));
  B.fill(RandomData(2, whole));
  if (call.beta != 0) C.fill(RandomData(3, whole));
  Guarded<Out> C0 = C;
  multiply(call, A.view(), B.view(), C.view());
  const Problem problem = testing::problem_of(call, A.view(), B.view(), C.view());
  const Verification v =
      Verifier(problem, A.view(), B.view(), C0.view(), call.bias.values, 1).check(C.view());
  const auto said = [&] { return describe(call_on(call, A.view(), B.view(), C.view())); };
  EXPECT_TRUE(v.within_bound) << said() << ": error / bound " << v.max_error_ratio << " at ("
                              << v.row << "," << v.col << "): expected " << v.expected << ", got "
                              << v.got;
  if (whole || keeps_the_chain<In>()) {
    EXPECT_TRUE(v.same_bits) << said();
  }
  EXPECT_TRUE(C.guards_intact()) << said();
}

TYPED_TEST(Narrow, ProductsAreRightForEveryShapeAndOrder) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  Thinned thinned(3);
  std::size_t turn = 0;
  for (const Shape s : {Shape{0, 5, 3},
                        {5, 0, 3},
                        {5, 3, 0},
                        {1, 1, 1},
                        {1, 97, 3},
                        {97, 1, 5},
                        {7, 9, 11},
                        {8, 48, 16},
                        {9, 49, 17},
                        {19, 50, 61},
                        {16, 96, 64},
                        {33, 101, 130},
                        {41, 67, 1031},
                        {20, 53, 2050},
                        {300, 130, 35}}) {
    for (const auto a : kOrders<In>) {
      for (const auto b : kOrders<In>) {
        const auto c = kOrders<Out>[turn % 5];
        const int threads = kThreads[turn % 4];
        if (thinned.takes(a, b, c, threads))
          expect_right<In, Out>(s, a, b, c, {.threads = threads}, turn % 2 == 0);
        if (turn % 7 == 0)
          expect_right<In, Out>(s, a, b, c, {.alpha = 0.5f, .beta = -2, .threads = threads}, true);
        ++turn;
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Narrow, SmallProductsOfOneThreadAreRight) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  std::size_t turn = 0;
  for (const Shape s : kSmallProducts) {
    for (const auto a : kOrders<In>) {
      for (const auto b : kOrders<In>) {
        const auto c = kOrders<Out>[turn % 5];
        if (turn++ % 3 > 0) expect_right<In, Out>(s, a, b, c, {.threads = 1}, turn % 2 == 0);
        else expect_right<In, Out>(s, a, b, c, {.alpha = 0.5f, .beta = -2, .threads = 1}, true);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Narrow, ProductsAreRightWhereAIsReadAsItLies) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  for (const Shape s : {Shape{9, 250, 522}, {200, 250, 522}, {70, 250, 4100}}) {
    for (const auto a : {Order<In>::row_major, Order<In>::reversed_rows}) {
      for (const int threads : {1, 3}) {
        for (const bool whole : {true, false}) {
          expect_right<In, Out>(s, a, Order<In>::row_major, Order<Out>::row_major,
                                {.threads = threads}, whole, 4);
        }
      }
    }
  }
}

TYPED_TEST(Narrow, EveryEpilogueIsRight) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  Thinned thinned(7);
  // Of micro-tiles, and of few columns and few rows along lines.
  for (const Shape s : {Shape{19, 50, 60}, {48, 1, 48}, {3, 100, 48}}) {
    std::vector<float> rows(static_cast<std::size_t>(s.M)), cols(static_cast<std::size_t>(s.N));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i) - 9;
    for (std::size_t j = 0; j < cols.size(); ++j) cols[j] = 20 - static_cast<float>(j);
    for (const float alpha : {0.f, 1.f, -1.f, 0.7f}) {
      for (const float beta : {0.f, 1.f, 0.7f}) {
        for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
          for (const LastStep<float>& last : {LastStep<float>{},
                                              {Activation::relu},
                                              {Activation::gelu},
                                              {Activation::silu},
                                              {Activation::relu, 0.f, 6.f}}) {
            for (const auto c :
                 {Order<Out>::row_major, Order<Out>::col_major, Order<Out>::spread}) {
              if (!thinned.takes(s.M, 10 * alpha, 10 * beta, bias, last.activation, last.high < 7,
                                 c))
                continue;
              expect_right<In, Out>(
                  s, Order<In>::row_major, s.M == 3 ? Order<In>::col_major : Order<In>::row_major,
                  c,
                  {.alpha = alpha,
                   .beta = beta,
                   .bias = {bias, bias == Bias::per_row ? rows.data() : cols.data()},
                   .last = last},
                  false);
              if (this->HasFailure()) return;
            }
          }
        }
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Narrow, AnyNumberOfThreadsGivesTheSameBits) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  Guarded<In> A(150, 1200), B(1200, 170);
  Guarded<Out> one(150, 170), many(150, 170);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  multiply<In, Out>({.threads = 1}, A.view(), B.view(), one.view());
  for (const int threads : {2, 3, 5, 64}) {
    multiply<In, Out>({.threads = threads}, A.view(), B.view(), many.view());
    EXPECT_EQ(difference(many, one), "") << threads;
  }
}

TYPED_TEST(Narrow, NanAndInfinityComeOutAndBetaZeroDoesNotReadC) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  for (const Shape s : {Shape{5, 6, 7}, {33, 50, 70}}) {
    for (const double special :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Guarded<In> A(s.M, s.K), B(s.K, s.N);
      Guarded<Out> C(s.M, s.N);  // starts as NaN
      A.fill([](index_t, index_t) { return 0; });
      B.fill(RandomData(2));
      A(2, s.K - 1) = convert<In>(special);
      B(0, 3) = convert<In>(special);
      multiply<In, Out>({}, A.view(), B.view(), C.view());
      for (index_t i = 0; i < s.M; ++i) {
        for (index_t j = 0; j < s.N; ++j)
          ASSERT_EQ(std::isfinite(static_cast<double>(C(i, j))), i != 2 && j != 3) << i << "," << j;
      }
      EXPECT_TRUE(std::isnan(static_cast<double>(C(0, 3))));  // 0 * infinity
      multiply<In, Out>({.alpha = 0}, A.view(), B.view(), C.view());
      EXPECT_EQ(difference(C, [](index_t, index_t) { return convert<Out>(0.0); }), "");
    }
  }
}

}  // namespace
}  // namespace tessera
