// The kernel of warpgroup units on a GPU: every tile, type and order of operands whose rows bulk
// copies can read, edges of all kinds, and C by bulk stores and by the epilogue. The bits are those
// of `tensor_core`: the units of one device add alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cluster_product.hpp"
#include "cuda/abilities.hpp"
#include "gpu_support.hpp"
#include "support/products.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"
#include "unit_product_calls.hpp"

namespace tessera {
namespace {

using testing::aligned;
using testing::Guarded;
using testing::RandomData;

class GpuWarpgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::need_gpu();
    if (cuda::abilities(0).capability != 90)
      GTEST_SKIP() << "NOT TESTED: the device has no warpgroup units";
  }
};

/// Which operand is contiguous along its columns.
struct Orders {
  bool a, b, c;
};

template <class In, class Out>
void expect_right(const char* algorithm, const TileShape& tile, testing::Shape s, Orders orders,
                  double alpha = 1, double beta = 0, const Epilogue& epilogue = {}) {
  auto A = aligned<In>(s.M, s.K, orders.a), B = aligned<In>(s.K, s.N, orders.b);
  auto C = aligned<Out>(s.M, s.N, orders.c);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  if (beta != 0) C.fill(RandomData(3));
  const auto C0 = C;
  auto D = C;
  const auto stream = cuda::Stream::create(0);
  const cuda::DeviceMatrix a(A.view(), stream), b(B.view(), stream), c(C.view(), stream),
      d(C.view(), stream);
  std::vector<float> bias(static_cast<std::size_t>(std::max({index_t{1}, s.M, s.N})));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 0.25f * static_cast<float>(i % 9) - 1;
  const cuda::DeviceMatrix bias_there(matrix(bias.data(), 1, std::ssize(bias)), stream);
  const Problem problem = make_problem(A.view(), B.view(), C.view(), alpha, beta, epilogue);
  const auto run = [&](const char* name, const TileShape& with, const cuda::DeviceMatrix& to,
                       Guarded<Out>& back) {
    const Plan plan = make_plan(problem, {.algorithm = name, .tile = with, .device = "cuda:0"});
    cuda::run(plan, a.view(), b.view(), to.view(), stream, bias_there.view().data);
    cuda::download(to.view(), back.view(), stream);
    return to_string(plan);
  };
  const std::string plan = run(algorithm, tile, c, C);
  const auto result =
      Verifier(problem, A.view(), B.view(), const_cast<Guarded<Out>&>(C0).view(), bias.data())
          .check(C.view(), find_algorithm(algorithm).arithmetic(problem.in));
  ASSERT_TRUE(result.within_bound)
      << plan << ": error / bound = " << result.max_error_ratio << " at (" << result.row << ","
      << result.col << "): expected " << result.expected << ", got " << result.got;
  ASSERT_TRUE(C.guards_intact()) << plan;
  if (sizeof(In) == 4) return;  // rounded to TF32 by a bulk copy, and by instructions
  run("tensor_core", {}, d, D);
  for (index_t i = 0; i < s.M; ++i) {
    for (index_t j = 0; j < s.N; ++j)
      ASSERT_EQ(std::memcmp(&C(i, j), &D(i, j), sizeof(Out)), 0)
          << plan << " at (" << i << "," << j << "): " << static_cast<float>(C(i, j))
          << ", tensor_core " << static_cast<float>(D(i, j));
  }
}

const std::vector<testing::Shape>& shapes() {
  static const std::vector<testing::Shape> all = {
      {128, 256, 64}, {1, 1, 1},      {7, 5, 3},       {64, 64, 64},    {129, 257, 65},
      {255, 191, 63}, {128, 64, 512}, {300, 200, 520}, {517, 389, 263}, {1000, 1500, 40}};
  return all;
}

TEST_F(GpuWarpgroup, EveryInstructionMultiplies) {
  EXPECT_THAT(testing::wrong_units(cuda::Stream::create(0)), ::testing::Each(0));
}

TEST_F(GpuWarpgroup, IsRightInEveryTileForEveryOrderOfBf16) {
  for (const TileShape& tile : find_algorithm("warpgroup").tiles) {
    for (const auto& shape : shapes()) {
      for (int orders = 0; orders < 8; ++orders)
        expect_right<bf16, bf16>("warpgroup", tile, shape,
                                 {(orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0});
    }
  }
}

TEST_F(GpuWarpgroup, IsRightForEveryType) {
  for (const TileShape& tile : find_algorithm("warpgroup").tiles) {
    for (const auto& shape : shapes()) {
      expect_right<f16, f16>("warpgroup", tile, shape, {false, false, false});
      expect_right<f16, float>("warpgroup", tile, shape, {false, true, false});
      expect_right<bf16, float>("warpgroup", tile, shape, {true, false, false});
      expect_right<float, float>("warpgroup", tile, shape, {false, true, false});
    }
  }
}

TEST_F(GpuWarpgroup, AppliesTheEpilogue) {
  for (const TileShape& tile : find_algorithm("warpgroup").tiles) {
    for (const double alpha : {0.0, 1.0, -0.7}) {
      for (const double beta : {0.0, 1.0, -1.3}) {
        expect_right<bf16, bf16>("warpgroup", tile, {133, 270, 72}, {false, false, false}, alpha,
                                 beta);
        expect_right<f16, float>("warpgroup", tile, {133, 270, 72}, {false, true, true}, alpha,
                                 beta);
      }
    }
    for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
      for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu})
        expect_right<bf16, bf16>("warpgroup", tile, {133, 270, 72}, {false, false, false}, 1, 0,
                                 {activation, bias});
    }
  }
}

/// More tiles than a device has multiprocessors: rings and turns continue from tile to tile.
TEST_F(GpuWarpgroup, GoesFromTileToTile) {
  for (const TileShape& tile : find_algorithm("warpgroup").tiles) {
    for (const index_t K : {64, 200, 512, 1000})
      expect_right<bf16, bf16>("warpgroup", tile, {1500, 3100, K}, {false, false, false});
    expect_right<bf16, float>("warpgroup", tile, {3100, 1500, 136}, {false, true, false}, 0.5, 1);
  }
}

TEST_F(GpuWarpgroup, ClustersChangeNoBit) {
  const auto stream = cuda::Stream::create(0);
  for (const auto& s :
       {testing::Shape{128, 256, 64}, {1, 1, 1}, {300, 500, 264}, {1500, 3100, 1000}}) {
    for (const auto& each : testing::compare_clusters(stream, s.M, s.N, s.K))
      EXPECT_EQ(each.different, 0) << each.tile.bn << " columns in clusters of " << each.down
                                   << " x " << each.across << ", K " << s.K;
  }
}

/// Few rows and few columns, every order of operands, tiles that are no tile of thin's, all types.
TEST_F(GpuWarpgroup, ThinIsRightInEveryTile) {
  const testing::Shape thin[] = {{1, 64, 64},    {1, 1000, 4096}, {3, 300, 520}, {8, 129, 72},
                                 {16, 4096, 64}, {33, 500, 200},  {64, 517, 96}, {700, 5, 264},
                                 {257, 64, 63},  {130, 140, 150}, {1, 1, 1}};
  for (const TileShape& tile : find_algorithm("thin").tiles) {
    for (const auto& shape : thin) {
      for (int orders = 0; orders < 8; ++orders)
        expect_right<bf16, bf16>("thin", tile, shape,
                                 {(orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0});
      expect_right<f16, float>("thin", tile, shape, {false, true, false}, -0.7, 1.3);
      expect_right<float, float>("thin", tile, shape, {false, true, false});
    }
    for (const Bias bias : {Bias::per_row, Bias::per_column})
      expect_right<bf16, float>("thin", tile, {5, 270, 72}, {false, true, false}, 1, 0,
                                {Activation::gelu, bias});
  }
}

}  // namespace
}  // namespace tessera
