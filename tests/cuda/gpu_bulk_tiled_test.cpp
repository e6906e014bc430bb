// bulk_tiled on a GPU: every order of memory that bulk copies can read, tiles and stages begun,
// full and past their ends, epilogues: the bits of the ladder. And f64 by matrix units: the same
// bits.
#include <gtest/gtest.h>

#include <random>

#include "gpu_support.hpp"
#include "support/products.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using testing::aligned;
using testing::Guarded;
using testing::RandomData;

class GpuBulkTiled : public ::testing::Test {
 protected:
  void SetUp() override { testing::need_gpu(); }
};

struct Product {
  index_t M, N, K;
  bool a, b, c;  ///< by columns
  double alpha = 1, beta = 0;
  Epilogue epilogue{};
};

template <class T>
void expect_right(const char* algorithm, const TileShape& tile, const Product& x) {
  auto A = aligned<T>(x.M, x.K, x.a), B = aligned<T>(x.K, x.N, x.b), C = aligned<T>(x.M, x.N, x.c);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  if (x.beta != 0) C.fill(RandomData(3));  // else it is NaN
  auto C0 = C;
  const auto stream = cuda::Stream::create(0);
  const cuda::DeviceMatrix a(A.view(), stream), b(B.view(), stream), c(C.view(), stream);
  std::vector<T> bias(static_cast<std::size_t>(std::max({index_t{1}, x.M, x.N})));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = T(0.25) * static_cast<T>(i % 9) - 1;
  const cuda::DeviceMatrix bias_there(matrix(bias.data(), 1, std::ssize(bias)), stream);
  const Problem problem = make_problem(A.view(), B.view(), C.view(), x.alpha, x.beta, x.epilogue);
  const Plan plan = make_plan(problem, {.algorithm = algorithm, .tile = tile, .device = "cuda:0"});
  cuda::run(plan, a.view(), b.view(), c.view(), stream, bias_there.view().data);
  cuda::download(c.view(), C.view(), stream);
  const auto result = Verifier(problem, A.view(), B.view(), C0.view(), bias.data()).check(C.view());
  EXPECT_TRUE(result.same_bits) << to_string(plan) << ": expected " << result.expected << ", got "
                                << result.got << " at (" << result.row << "," << result.col << ")";
  EXPECT_TRUE(C.guards_intact()) << to_string(plan);
}

TEST_F(GpuBulkTiled, RandomProductsInEveryOrderOfMemory) {
  std::mt19937 random(7);
  const auto& tiles = find_algorithm("bulk_tiled").tiles;
  for (int i = 0; i < 64; ++i) {
    const auto extent = [&] { return static_cast<index_t>(1 + random() % 700); };
    Product x{extent(), extent(), extent(), (i & 1) != 0, (i & 2) != 0, (i & 4) != 0};
    if (random() % 3 == 0) x.alpha = 0.7, x.beta = -0.3;
    if (random() % 4 == 0) x.epilogue = {Activation::relu, Bias::per_column};
    expect_right<float>("bulk_tiled", tiles[random() % tiles.size()], x);
  }
}

TEST_F(GpuBulkTiled, EdgesOfTilesAndStages) {
  for (const TileShape& tile : find_algorithm("bulk_tiled").tiles) {
    for (const index_t K : {0, 1, 31, 32, 33, 64, 96, 128, 129, 1000})
      expect_right<float>("bulk_tiled", tile, {tile.bm, tile.bn, K, false, false, false, 1, 2});
    for (const index_t edge : {-1, 1})
      expect_right<float>("bulk_tiled", tile,
                          {3 * tile.bm + edge, 3 * tile.bn + edge, 96 + edge, false, false, false});
  }
}

TEST_F(GpuBulkTiled, MatrixUnitsOfF64KeepTheChain) {
  std::mt19937 random(8);
  for (int i = 0; i < 32; ++i) {
    const auto extent = [&] { return static_cast<index_t>(1 + random() % 400); };
    Product x{extent(), extent(), extent(), (i & 1) != 0, (i & 2) != 0, (i & 4) != 0};
    if (random() % 3 == 0) x.alpha = 0.7, x.beta = -0.3;
    expect_right<double>("tensor_core", {}, x);
  }
  expect_right<double>("tensor_core", {}, {512, 384, 1024, false, false, false});
}

}  // namespace
}  // namespace tessera
