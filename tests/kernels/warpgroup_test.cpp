// The kernel of warpgroup units on the CPU engine: maps, swizzles, descriptors and phases as on a
// GPU, byte by byte. Random extents, orders and epilogues in every tile, and the same bits for
// any tile and order of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/products.hpp"

namespace tessera {
namespace {

using testing::aligned;
using testing::Guarded;
using testing::RandomData;

struct WarpgroupProduct {
  index_t M, N, K;
  bool a, b, c;  ///< by columns
  double alpha = 1, beta = 0;
  Epilogue epilogue{};
};

template <class In, class Out>
std::vector<Out> expect_right(const WarpgroupProduct& x, const Options& options) {
  auto A = aligned<In>(x.M, x.K, x.a), B = aligned<In>(x.K, x.N, x.b);
  auto C = aligned<Out>(x.M, x.N, x.c);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  if (x.beta != 0) C.fill(RandomData(3));
  Guarded<Out> C0 = C;
  std::vector<float> bias(static_cast<std::size_t>(std::max({index_t{1}, x.M, x.N})));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 0.25f * static_cast<float>(i % 9) - 1;
  const Problem problem = make_problem(A.view(), B.view(), C.view(), x.alpha, x.beta, x.epilogue);
  const Plan plan = make_plan(problem, options);
  run(plan, A.view(), B.view(), C.view(), bias.data());
  const auto result = Verifier(problem, A.view(), B.view(), C0.view(), bias.data())
                          .check(C.view(), find_algorithm(plan.algorithm).arithmetic(problem.in));
  EXPECT_TRUE(result.within_bound)
      << to_string(plan) << ": error / bound = " << result.max_error_ratio << " at (" << result.row
      << "," << result.col << "): expected " << result.expected << ", got " << result.got;
  EXPECT_TRUE(C.guards_intact()) << to_string(plan);
  std::vector<Out> out;
  for (index_t i = 0; i < x.M; ++i)
    for (index_t j = 0; j < x.N; ++j) out.push_back(C(i, j));
  return out;
}

std::vector<TileShape> tiles_of_warpgroup() {
  const auto& tiles = find_algorithm("warpgroup").tiles;
  return {tiles.begin(), tiles.end()};
}

/// These extents and orders of memory with random scalars, epilogue, tile, order of the threads and
/// element types.
void expect_random_right(std::mt19937& random, std::string_view algorithm, WarpgroupProduct x) {
  const auto& tiles = find_algorithm(algorithm).tiles;
  if (random() % 3 == 0) x.alpha = 0.7, x.beta = -0.3;
  if (random() % 4 == 0) x.epilogue = {Activation::relu, Bias::per_column};
  if (random() % 8 == 0) x.epilogue = {Activation::none, Bias::per_row};
  const Options options{.algorithm = std::string(algorithm),
                        .tile = tiles[random() % tiles.size()],
                        .order = static_cast<ThreadOrder>(random() % 3),
                        .seed = random()};
  switch (random() % 5) {
    case 0: expect_right<bf16, bf16>(x, options); break;
    case 1: expect_right<f16, float>(x, options); break;
    case 2: expect_right<f16, f16>(x, options); break;
    case 3: expect_right<bf16, float>(x, options); break;
    default: x.a = false, x.b = true, expect_right<float, float>(x, options);
  }
}

/// Thin either way, and not thin at all: the large operand K-major or MN-major, the small one
/// K-major; others are multiplied by tensor_core.
TEST(Thin, RandomProducts) {
  std::mt19937 random(6);
  for (int i = 0; i < 60; ++i) {
    const auto extent = [&](unsigned most) { return static_cast<index_t>(1 + random() % most); };
    const bool few_rows = random() % 2 == 0;
    expect_random_right(random, "thin",
                        {extent(few_rows ? 20 : 200), extent(few_rows ? 200 : 20), extent(400),
                         random() % 4 == 0, random() % 2 == 0, random() % 2 == 0});
  }
}

TEST(Warpgroup, RandomProducts) {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    const auto extent = [&] { return static_cast<index_t>(1 + random() % 300); };
    expect_random_right(
        random, "warpgroup",
        {extent(), extent(), extent(), random() % 2 == 0, random() % 2 == 0, random() % 2 == 0});
  }
}

/// K is not split and the units add whole instructions: neither the tile nor the order of threads,
/// copies and instructions changes a bit.
TEST(Warpgroup, TheTileAndTheOrderChangeNoBit) {
  const WarpgroupProduct x{130, 270, 330, false, false, false};
  std::vector<bf16> first;
  for (const TileShape& tile : tiles_of_warpgroup()) {
    for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
      const auto out = expect_right<bf16, bf16>(
          x, {.algorithm = "warpgroup", .tile = tile, .order = order, .seed = 3});
      if (first.empty()) first = out;
      EXPECT_EQ(std::memcmp(out.data(), first.data(), out.size() * sizeof out[0]), 0)
          << to_string(tile);
    }
  }
}

TEST(Warpgroup, NoDepthLeavesTheEpilogue) {
  for (const TileShape& tile : tiles_of_warpgroup()) {
    expect_right<bf16, bf16>({70, 80, 0, false, false, false, 1, 0}, {"warpgroup", tile});
    expect_right<f16, float>({70, 80, 16, false, false, false, 0, 0.5}, {"warpgroup", tile});
  }
}

/// Elements of one byte, in rows along K or across it.
TEST(Warpgroup, RandomProductsOfBytes) {
  std::mt19937 random(8);
  const auto& tiles = find_algorithm("warpgroup").tiles_of(DType::i8);
  for (int i = 0; i < 24; ++i) {
    const auto extent = [&] { return static_cast<index_t>(1 + random() % 300); };
    WarpgroupProduct x{extent(),          extent(),          extent(),
                       random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
    const Options options{.algorithm = "warpgroup",
                          .tile = tiles[random() % tiles.size()],
                          .order = static_cast<ThreadOrder>(random() % kThreadOrderNames.size()),
                          .seed = random()};
    if (random() % 3 == 0) x.alpha = 2, x.beta = -1;
    switch (i % 4) {
      case 0: expect_right<f8e4m3, float>(x, options); break;
      case 1: expect_right<f8e5m2, float>(x, options); break;
      case 2: expect_right<std::int8_t, std::int32_t>(x, options); break;
      default: expect_right<std::uint8_t, std::int32_t>(x, options);
    }
  }
}

/// A unit that adds up all of a long K keeps 13 bits: beside large sums, small products vanish.
TEST(Warpgroup, SumsOfF8ArePromoted) {
  constexpr index_t K = 4096;
  auto A = aligned<f8e4m3>(64, K, false), B = aligned<f8e4m3>(K, 64, true);
  Guarded<float> C(64, 64);
  A.fill([](index_t, index_t) { return 1.0; });
  B.fill([](index_t, index_t) { return 1.0; });
  for (const TileShape& tile : find_algorithm("warpgroup").tiles_of(DType::f8e4m3)) {
    run(make_plan(make_problem(A.view(), B.view(), C.view()), {"warpgroup", tile}), A.view(),
        B.view(), C.view());
    EXPECT_EQ(C(63, 63), float{K}) << to_string(tile);
  }
}

/// Blocks go from tile to tile, and rings of stages with them.
TEST(Warpgroup, GoesFromTileToTile) {
  const TileShape small = tiles_of_warpgroup().back();
  expect_right<bf16, bf16>({64 * 14, 64 * 11, 144, false, true, false}, {"warpgroup", small});
}

}  // namespace
}  // namespace tessera
