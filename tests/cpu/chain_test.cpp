// Sums that continue: a product whose K comes in parts has the bits of the product at once, for
// every type, shape, order of strides and number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cpu/multiply.hpp"
#include "support/thinned.hpp"
#include "tessera/cpu/packed_matrix.hpp"
#include "tessera/cpu/split_k.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

template <class In, class Out>
void expect_the_same_bits(Shape s, index_t depth, int threads, typename Guarded<In>::Order a_order,
                          typename Guarded<In>::Order b_order) {
  Guarded<In> A(s.M, s.K, a_order), B(s.K, s.N, b_order);
  Guarded<Out> whole(s.M, s.N), parts(s.M, s.N);
  A.fill(RandomData(1, std::is_integral_v<In>)), B.fill(RandomData(2, std::is_integral_v<In>));
  cpu::Gemm<In, Out> call;
  call.threads = threads;
  testing::multiply(call, A.view(), B.view(), whole.view());
  const auto all = testing::call_on(call, A.view(), B.view(), parts.view());
  for (index_t k = 0; k < s.K; k += depth) {
    auto part = all;
    part.A += k * all.a_col, part.B += k * all.b_row, part.K = std::min(depth, s.K - k);
    part.chain = k == 0 ? cpu::Chain::begins : cpu::Chain::goes_on;
    cpu::gemm(part);
  }
  EXPECT_EQ(testing::difference(parts, [&](index_t i, index_t j) { return whole(i, j); }), "")
      << s.M << " " << s.N << " " << s.K << " by " << depth << ", " << threads << " threads";
  EXPECT_TRUE(parts.guards_intact());
}

template <class In, class Out>
void expect_every_shape() {
  using Order = typename Guarded<In>::Order;
  Thinned thinned(5);
  for (const Shape s : {Shape{1, 1, 200},
                        {1, 300, 700},
                        {300, 1, 700},
                        {3, 37, 1000},
                        {17, 5, 129},
                        {64, 64, 64},
                        {130, 90, 1500},
                        {31, 400, 333}}) {
    for (const index_t depth : {64, 192, 1024}) {
      for (const int threads : {1, 3}) {
        for (const auto order : {Order::row_major, Order::col_major}) {
          if (thinned.takes(s.K, depth, threads, order))
            expect_the_same_bits<In, Out>(s, depth, threads, order, order);
        }
      }
    }
  }
}

TEST(Chain, GoesOnWithTheSameBits) {
  expect_every_shape<double, double>();
  expect_every_shape<float, float>();
  expect_every_shape<f16, float>();
  expect_every_shape<bf16, float>();
  expect_every_shape<std::int8_t, std::int32_t>();
  expect_every_shape<std::uint8_t, std::int32_t>();
}

// Whichever way the product is computed, and where nothing is added.
TEST(Chain, GoesOnInEveryEntry) {
  constexpr index_t n = 8, deep = 50'000;
  const std::vector<float> ones(n * deep, 1);
  std::vector<float> sums(n * n);
  cpu::Gemm<float> call{.M = n, .N = n, .K = deep, .A = ones.data(), .a_row = deep};
  call.B = ones.data(), call.b_row = n, call.C = sums.data(), call.c_row = n;
  call.chain = cpu::Chain::goes_on;
  const auto sum_after = [&](const auto& multiply) {
    std::fill(sums.begin(), sums.end(), 5.f);
    multiply();
    EXPECT_EQ(sums[0], sums[n * n - 1]);
    return sums[0];
  };
  const cpu::PackedMatrix<float> packed(ones.data(), deep, n, n), nothing(ones.data(), 0, n, n);
  EXPECT_EQ(sum_after([&] { cpu::gemm(call); }), deep + 5);
  EXPECT_EQ(sum_after([&] { cpu::gemm_split_k(call); }), deep + 5);
  EXPECT_EQ(sum_after([&] { cpu::gemm(call, packed); }), deep + 5);
  call.K = 0;
  EXPECT_EQ(sum_after([&] { cpu::gemm(call); }), 5);
  EXPECT_EQ(sum_after([&] { cpu::gemm_split_k(call); }), 5);
  EXPECT_EQ(sum_after([&] { cpu::gemm(call, nothing); }), 5);
}

}  // namespace
}  // namespace tessera
