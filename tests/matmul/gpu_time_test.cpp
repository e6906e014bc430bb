// The model of kernels' times beside the results files, and the orders it gives.
#include "matmul/gpu_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "matmul/refusal.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {
namespace {

Problem square(index_t side, DType type = DType::f32) {
  return {.M = side,
          .N = side,
          .K = side,
          .in = type,
          .out = type,
          .a = {side, 1},
          .b = {side, 1},
          .c = {side, 1}};
}

/// Those of bench/results/gpu on an H200.
std::vector<TunedProduct> measured_products() {
  const auto source = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::vector<TunedProduct> out;
  for (const auto& file : std::filesystem::directory_iterator(source / "bench/results/gpu")) {
    if (!file.path().filename().string().ends_with("nvidia-h200-tuning.txt")) continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const TunedProduct& each : parse_tuning(text).products) out.push_back(each);
  }
  return out;
}

double tflops(const Problem& p, const char* algorithm, const char* tile) {
  return p.flops() / modelled_seconds(p, {algorithm, parse_tile(tile)}) * 1e-12;
}

// The speeds are those of bench/results/gpu.
TEST(GpuTime, IsThatOfMeasuredProducts) {
  const auto near = [](double got, double measured) {
    EXPECT_NEAR(got / measured, 1, 0.15) << got << " TFLOP/s, measured " << measured;
  };
  near(tflops(square(4096), "bulk_tiled", "256x128x32/16x8"), 46.7);
  near(tflops(square(2048), "bulk_tiled", "256x128x32/16x8"), 45.1);
  near(tflops(square(1024), "bulk_tiled", "64x64x32/8x4"), 39.3);
  near(tflops(square(4096), "block_tiled_vectorized", "128x128x8/8x8"), 32.0);
  near(tflops(square(4096), "block_tiled", "128x128x8/8x8"), 18.3);
  near(tflops(square(4096), "coalescing", "32x32"), 4.97);
  near(tflops(square(4096, DType::bf16), "tensor_core", "128x128x32/64x64"), 287);
  near(tflops(square(4096), "tensor_core", "128x128x32/64x64"), 144);
}

/// With a tile as the ladder has it, not as it is written.
double seconds_of(const Problem& p, Candidate who) {
  who.tile = resolve_tile(find_algorithm(who.algorithm).tiles_of(p.in), who.tile);
  return modelled_seconds(p, who);
}

/// Of products of some microseconds the launch decides.
TEST(GpuTime, OrdersTheTilesOfAWarpgroupAsTheyWereMeasured) {
  int compared = 0;
  for (const TunedProduct& each : measured_products()) {
    if (each.best.algorithm != "warpgroup" || each.seconds < 2e-5) continue;
    const double best = seconds_of(each.problem, each.best);
    EXPECT_NEAR(best / each.seconds, 1, 0.15) << to_string(each.problem);
    for (const SlowerCandidate& other : each.slower) {
      const double times = seconds_of(each.problem, other.who) / best;
      EXPECT_NEAR(times / other.times, 1, 0.08)
          << to_string(each.problem) << " in " << to_string(other.who.tile) << ": measured at "
          << other.times << " of the best time, modelled at " << times;
      ++compared;
    }
  }
  EXPECT_GE(compared, 10);
}

TEST(GpuTime, TakesLargeTilesForLargeProductsAndSmallOnesForSmall) {
  const auto of = [](index_t side, const char* tile) {
    return seconds_of(square(side, DType::bf16), {"warpgroup", parse_tile(tile)});
  };
  EXPECT_LT(of(4096, "128x128/128x128"), of(4096, "128x128/64x128/2x1"));
  EXPECT_LT(of(8192, "128x128/128x128"), of(8192, "128x64/64x64"));
  EXPECT_LT(of(8192, "128x256/64x256"), of(8192, "64x64/64x64"));
  EXPECT_LT(of(1024, "128x64/64x64"), of(1024, "128x256/64x256"));
  EXPECT_LT(tflops(square(8192, DType::bf16), "warpgroup", "128x256/64x256/2x1"), 989);
  EXPECT_LT(tflops(square(4096, DType::bf16), "thin", "64x64"), 400);
}

TEST(GpuTime, OfThinProductsIsThatOfTheirBytes) {
  Problem p = square(4096, DType::bf16);
  p.M = 1;
  const double seconds = modelled_seconds(p, {"thin", parse_tile("64x8")});
  const double bytes = 4096.0 * 4096 * 2;
  EXPECT_GT(seconds, bytes / 4.8e12);
  EXPECT_LT(seconds, 3 * bytes / 4.8e12);
  EXPECT_LT(seconds, modelled_seconds(p, {"warpgroup", parse_tile("64x64/64x64")}));
}

TEST(GpuTime, CandidatesComeInItsOrder) {
  const Problem p = square(64);
  const auto all = candidates_for(p, "cpu");
  EXPECT_THAT(all, ::testing::Not(::testing::IsEmpty()));  // on a CPU in that of the ladder
  EXPECT_EQ(all.front().algorithm, "naive");
}

}  // namespace
}  // namespace tessera::detail
