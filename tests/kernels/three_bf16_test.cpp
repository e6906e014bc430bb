// f32 as three bf16 each on the CPU engine: the parts of an element, the planes of an operand, and
// the product, which is nearer to the exact one than TF32 by far and about as near as a chain.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/products.hpp"
#include "tessera/kernels/pack_operand.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

float sum_of(const ThreeBf16& x) {
  return static_cast<float>(x.parts[0]) +
         (static_cast<float>(x.parts[1]) + static_cast<float>(x.parts[2]));
}

TEST(ThreeBf16, AreTheElement) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(x) || std::fabs(x) < 0x1p-110f) continue;
    const ThreeBf16 parts = three_bf16(x);
    ASSERT_EQ(sum_of(parts), x) << x;
    ASSERT_LE(std::fabs(static_cast<float>(parts.parts[1])), std::fabs(x) * 0x1p-7f);
    ASSERT_LE(std::fabs(static_cast<float>(parts.parts[2])), std::fabs(x) * 0x1p-15f);
  }
  for (const float x : {0.f, 1.f, -3.f, std::numeric_limits<float>::max(),
                        -std::numeric_limits<float>::max(), 0x1.fffffep127f, 0x1.ff8p127f})
    EXPECT_EQ(sum_of(three_bf16(x)), x) << x;
}

TEST(ThreeBf16, WhatIsNoNumberIsInTheFirstAlone) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const float x : {inf, -inf}) {
    EXPECT_EQ(static_cast<float>(three_bf16(x).parts[0]), x);
    EXPECT_EQ(sum_of(three_bf16(x)), x);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(three_bf16(NAN).parts[0])));
  EXPECT_EQ(static_cast<float>(three_bf16(NAN).parts[1]), 0);
}

/// Rows of every order of memory, extents around the tile, zeros past the end of K.
TEST(PackOperand, HasRowsAlongK) {
  using Order = Guarded<float>::Order;
  for (const auto order : {Order::row_major, Order::col_major, Order::reversed, Order::spread}) {
    for (const auto& [rows, K] :
         {std::pair<index_t, index_t>{1, 1}, {31, 33}, {64, 64}, {70, 130}}) {
      Guarded<float> from(rows, K, order);
      from.fill(RandomData(2));
      const auto view = from.view();
      const auto source = tensor<kAnyMatrix>(static_cast<const float*>(view.data), rows, K,
                                             view.row_stride, view.col_stride);
      const index_t depth = packed_depth<float>(K), of_plane = packed_depth<bf16>(K);
      std::vector<float> copy(static_cast<std::size_t>(rows * depth), NAN);
      std::vector<bf16> planes(static_cast<std::size_t>(rows * 3 * of_plane), bf16(NAN));
      launch({.grid = PackOperand<1>::grid(rows, depth), .block = PackOperand<1>::block},
             PackOperand<1>{}, source, tensor<row_major(dynamic)>(copy.data(), std::ssize(copy)),
             depth);
      launch({.grid = PackOperand<3>::grid(rows, of_plane), .block = PackOperand<3>::block},
             PackOperand<3>{}, source,
             tensor<row_major(dynamic)>(planes.data(), std::ssize(planes)), of_plane);
      for (index_t i = 0; i < rows; ++i) {
        for (index_t k = 0; k < depth; ++k)
          ASSERT_EQ(copy[static_cast<std::size_t>(i * depth + k)], k < K ? from(i, k) : 0);
        for (index_t k = 0; k < of_plane; ++k) {
          const ThreeBf16 wanted = k < K ? three_bf16(from(i, k)) : ThreeBf16{};
          for (int plane = 0; plane < 3; ++plane)
            ASSERT_EQ(planes[static_cast<std::size_t>((i * 3 + plane) * of_plane + k)].bits,
                      wanted.parts[plane].bits);
        }
      }
    }
  }
}

struct Result {
  std::vector<float> C;
  double ratio;        ///< error / bound
  double worst_error;  ///< relative to the sum of magnitudes
};

Result product(index_t M, index_t N, index_t K, const Options& options, double alpha = 1,
               double beta = 0, const Epilogue& epilogue = {}, bool positive = false) {
  using Order = Guarded<float>::Order;
  Guarded<float> A(M, K, Order::spread), B(K, N, Order::reversed), C(M, N, Order::row_major);
  RandomData of_a(1), of_b(2);
  A.fill([&](index_t i, index_t k) { return positive ? std::fabs(of_a(i, k)) : of_a(i, k); });
  B.fill([&](index_t k, index_t j) { return positive ? std::fabs(of_b(k, j)) : of_b(k, j); });
  if (beta != 0) C.fill(RandomData(3));
  std::vector<float> bias(static_cast<std::size_t>(std::max({index_t{1}, M, N})), 0.75f);
  Guarded<float> C0 = C;
  const Problem p = make_problem(A.view(), B.view(), C.view(), alpha, beta, epilogue);
  const Plan plan = make_plan(p, options);
  run(plan, A.view(), B.view(), C.view(), bias.data());
  const auto checked = Verifier(p, A.view(), B.view(), C0.view(), bias.data())
                           .check(C.view(), find_algorithm(plan.algorithm).arithmetic(p.in));
  EXPECT_TRUE(checked.within_bound) << to_string(plan) << ": " << checked.max_error_ratio;
  EXPECT_TRUE(C.guards_intact()) << to_string(plan);
  Result out{{}, checked.max_error_ratio, 0};
  for (index_t i = 0; i < M; ++i) {
    for (index_t j = 0; j < N; ++j) {
      out.C.push_back(C(i, j));
      double exact = 0, size = 0;
      for (index_t k = 0; k < K; ++k) {
        const double each = double(A(i, k)) * double(B(k, j));
        exact += each, size += std::fabs(each);
      }
      if (size > 0)
        out.worst_error = std::max(out.worst_error, std::fabs(double(C(i, j)) - exact) / size);
    }
  }
  return out;
}

TEST(ThreeBf16, AnyExtentsStridesAndEpilogue) {
  for (const TileShape& tile : find_algorithm("three_bf16").tiles) {
    for (const auto order : {ThreadOrder::forward, ThreadOrder::late}) {
      const Options options{.algorithm = "three_bf16", .tile = tile, .threads = 2, .order = order};
      for (const auto& s : testing::nasty_shapes(64)) product(s.M, s.N, s.K, options);
      product(130, 200, 150, options, 0.7, -0.3);
      product(33, 70, 90, options, 1, 0, {Activation::relu, Bias::per_column});
      product(33, 70, 90, options, 0, 2);
    }
  }
}

TEST(ThreeBf16, TheTileAndTheOrderChangeNoBit) {
  const auto wanted = product(130, 140, 200, {.algorithm = "three_bf16"}).C;
  for (const TileShape& tile : find_algorithm("three_bf16").tiles)
    for (const auto order : {ThreadOrder::shuffled, ThreadOrder::late})
      EXPECT_EQ(product(130, 140, 200,
                        {.algorithm = "three_bf16", .tile = tile, .threads = 3, .order = order})
                    .C,
                wanted)
          << to_string(tile);
}

/// Sums of one sign are the worst case: units cut off, and do not round.
TEST(ThreeBf16, IsAboutAsExactAsAChainOfF32) {
  for (const index_t K : {64, 512, 2048}) {
    const auto of = [&](const char* name) {
      return product(16, 16, K, {.algorithm = name}, 1, 0, {}, true).worst_error;
    };
    const double three = of("three_bf16"), chain = of("coalescing"), tf32 = of("warpgroup");
    EXPECT_LT(three, 2 * chain + 0x1p-21) << K;
    EXPECT_LT(100 * three, tf32) << K;
  }
}

TEST(ThreeBf16, IsNeverTheDefault) {
  EXPECT_NE(make_plan(parse_problem("m=512 n=512 k=512")).algorithm, "three_bf16");
  const Plan plan = make_plan(parse_problem("m=100 n=200 k=70"), {.algorithm = "three_bf16"});
  EXPECT_EQ(plan.workspace_bytes, (100 + 200) * 3 * 128 * 2);
}

}  // namespace
}  // namespace tessera
