// bulk_tiled on the CPU engine: maps, boxes, swizzles, gates and the transposition as on a GPU.
// Random extents, orders and epilogues in every tile: the bits of the ladder, and only C is
// written.
#include <gtest/gtest.h>

#include <random>

#include "matmul/bulk_tiled_operands.hpp"
#include "matmul/grouped_product.hpp"
#include "matmul/ladder.hpp"
#include "support/products.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

/// `odd`: rows that bulk copies cannot read.
Guarded<float> operand(index_t rows, index_t cols, bool by_columns, bool odd = false) {
  using Order = Guarded<float>::Order;
  if (!odd) return testing::aligned<float>(rows, cols, by_columns);
  const index_t extent = by_columns ? rows : cols;
  return {rows, cols, by_columns ? Order::col_major : Order::row_major, extent % 2 == 0 ? 3 : 2};
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
  EXPECT_EQ(detail::why_no_bulk_tiles(problem, A.view().data, B.view().data).empty(), !x.odd);
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

/// A tile that is not built in: its threads transpose one, two or four blocks of 4 x 4.
template <TileShape S>
void expect_right_in(bool a_by_columns, bool b_by_columns, ThreadOrder order) {
  const index_t M = S.bm + 5, N = S.bn + 3, K = 101;
  auto A = operand(M, K, a_by_columns), B = operand(K, N, b_by_columns), C = operand(M, N, false),
       expected = C;
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  const Problem p = make_problem(A.view(), B.view(), C.view());
  detail::with_bulk_tiles<S>(
      p, A.view().data, B.view().data, C.view().data, nullptr, software_map,
      [&]<class Kernel>(const Kernel& kernel, const auto& gA, const auto& gB, const auto& gC) {
        detail::engine_launcher({.threads = 2, .order = order, .seed = 3})(Kernel::grid(p.M, p.N),
                                                                           kernel, gA, gB, gC);
      });
  matmul(A.view(), B.view(), expected.view());
  for (index_t i = 0; i < M; ++i)
    for (index_t j = 0; j < N; ++j) ASSERT_EQ(C(i, j), expected(i, j)) << i << "," << j;
}

TEST(BulkTiled, ThreadsTransposeUpToFourBlocks) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::shuffled, ThreadOrder::late}) {
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        expect_right_in<TileShape{.bm = 128, .bn = 64, .bk = 32, .tm = 16, .tn = 8}>(a, b, order);
        expect_right_in<TileShape{.bm = 64, .bn = 64, .bk = 32, .tm = 8, .tn = 8}>(a, b, order);
      }
    }
  }
}

/// Rows that are no multiple of 16 bytes apart: pipelined takes them.
TEST(BulkTiled, OperandsThatBulkCopiesCannotRead) {
  for (const TileShape& tile : all_tiles())
    expect_right({70, 35, 41, false, false, false, 0.7, -0.3, {}, true}, {.tile = tile});
}

}  // namespace
}  // namespace tessera
