// bulk_tiled on the CPU engine: maps, boxes, swizzles, gates and the transposition as on a GPU.
// Random extents, orders and epilogues in every tile: the bits of the ladder, and only C is
// written.
#include <gtest/gtest.h>

#include <random>

#include "support/products.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

/// Rows that bulk copies can read begin at multiples of 16 bytes; `odd`: those that they cannot.
Guarded<float> operand(index_t rows, index_t cols, bool by_columns, bool odd = false) {
  using Order = Guarded<float>::Order;
  const index_t extent = by_columns ? rows : cols;
  return {rows, cols, by_columns ? Order::col_major : Order::row_major,
          (4 - extent % 4) % 4 + 4 + (odd ? 1 : 0)};
}

struct Product {
  index_t M, N, K;
  bool a, b, c;  ///< by columns
  double alpha = 1, beta = 0;
  Epilogue epilogue{};
  bool odd = false;
};

void expect_right(const Product& x, Options options) {
  auto A = operand(x.M, x.K, x.a, x.odd), B = operand(x.K, x.N, x.b), C = operand(x.M, x.N, x.c);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  if (x.beta != 0) C.fill(RandomData(3));  // else it is NaN
  Guarded<float> C0 = C;
  std::vector<float> bias(static_cast<std::size_t>(std::max({index_t{1}, x.M, x.N})));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 0.25f * static_cast<float>(i % 9) - 1;
  const Problem problem = make_problem(A.view(), B.view(), C.view(), x.alpha, x.beta, x.epilogue);
  options.algorithm = "bulk_tiled";
  const Plan plan = make_plan(problem, options);
  run(plan, A.view(), B.view(), C.view(), bias.data());
  const auto result = Verifier(problem, A.view(), B.view(), C0.view(), bias.data()).check(C.view());
  EXPECT_TRUE(result.same_bits) << to_string(plan) << ": expected " << result.expected << ", got "
                                << result.got << " at (" << result.row << "," << result.col << ")";
  EXPECT_TRUE(A.guards_intact() && B.guards_intact() && C.guards_intact()) << to_string(plan);
}

std::vector<TileShape> all_tiles() {
  const auto& tiles = find_algorithm("bulk_tiled").tiles;
  return {tiles.begin(), tiles.end()};
}

TEST(BulkTiled, RandomProductsInEveryOrderOfMemory) {
  std::mt19937 random(7);
  const auto tiles = all_tiles();
  for (int i = 0; i < 32; ++i) {
    const auto extent = [&] { return static_cast<index_t>(1 + random() % 300); };
    Product x{extent(), extent(), extent(), (i & 1) != 0, (i & 2) != 0, (i & 4) != 0};
    if (random() % 3 == 0) x.alpha = 0.7, x.beta = -0.3;
    if (random() % 4 == 0) x.epilogue = {Activation::relu, Bias::per_column};
    expect_right(x, {.tile = tiles[random() % tiles.size()],
                     .order = static_cast<ThreadOrder>(random() % 3),
                     .seed = random()});
  }
}

TEST(BulkTiled, EdgesOfTilesAndStages) {
  for (const TileShape& tile : all_tiles()) {
    for (const index_t K : {1, 31, 32, 33, 64, 96, 128, 129, 160})
      expect_right({tile.bm, tile.bn, K, false, false, false}, {.tile = tile});
    for (const index_t edge : {-1, 1})
      expect_right({tile.bm + edge, tile.bn + edge, 32 + edge, false, false, false},
                   {.tile = tile});
    expect_right({1, 1, 1, false, false, false}, {.tile = tile});
    expect_right({5, 7, 0, false, false, false, 1, 2}, {.tile = tile});
    expect_right({5, 7, 9, false, false, false, 0, 2}, {.tile = tile});
  }
}

/// Rows that are no multiple of 16 bytes apart: pipelined takes them.
TEST(BulkTiled, OperandsThatBulkCopiesCannotRead) {
  for (const TileShape& tile : all_tiles())
    expect_right({70, 35, 41, false, false, false, 0.7, -0.3, {}, true}, {.tile = tile});
}

}  // namespace
}  // namespace tessera
