// Plans for CUDA devices: they need no device, so that all of this is tested on any machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/abilities.hpp"
#include "matmul/tuning.hpp"
#include "support/refusal.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

class CudaPlan : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_built()) GTEST_SKIP() << "NOT tested: this build has no CUDA";
  }
};

TEST(CudaPlanWithoutCuda, IsRefused) {
  if (cuda::is_built()) GTEST_SKIP() << "this build has CUDA";
  const Problem p = parse_problem("m=5 n=5 k=5");
  EXPECT_THAT(refusal([&] { make_plan(p, {.device = "cuda"}); }, Category::unavailable),
              HasSubstr("this build has no CUDA"));
}

TEST_F(CudaPlan, TextRoundTrips) {
  for (const auto& algorithm : algorithms()) {
    if (algorithm.name == "packed" || algorithm.name == "split_k") continue;
    for (const auto& tile : algorithm.tiles) {
      const Options options{
          .algorithm = std::string(algorithm.name), .tile = tile, .device = "cuda:3"};
      const Plan plan = make_plan(parse_problem("m=10 n=20 k=30"), options);
      EXPECT_EQ(plan.device, "cuda:3");
      EXPECT_THAT(to_string(plan), HasSubstr(" device=cuda:3 "));
      EXPECT_EQ(parse_plan(to_string(plan)), plan);
    }
  }
}

TEST_F(CudaPlan, APlanForTheCpuDoesNotNameIt) {
  const Plan plan = make_plan(parse_problem("m=10 n=20 k=30"));
  EXPECT_EQ(plan.device, "cpu");
  EXPECT_EQ(to_string(plan).find("device="), std::string::npos);
}

TEST_F(CudaPlan, NamesOfDevices) {
  const Problem p = parse_problem("m=5 n=5 k=5");
  EXPECT_EQ(make_plan(p, {.device = "cuda"}).device, "cuda:0");
  EXPECT_EQ(make_plan(p, {.device = "cuda:12"}).device, "cuda:12");
  for (const char* name : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda1", "cuda:99999999999"})
    EXPECT_THAT(refusal([&] { make_plan(p, {.device = name}); }, Category::argument),
                HasSubstr("cpu, cuda:N, opencl:N or hip:N"));
}

TEST_F(CudaPlan, AutomaticChoiceTakesWhatRunsThereAndSaysWhyNotTheOthers) {
  for (const char* shape : {"m=1 n=1 k=1", "m=8 n=4096 k=64", "m=1024 n=1024 k=1024"}) {
    for (const char* type : {"f64", "f32", "i32", "f16", "bf16"}) {
      const Plan plan = make_plan(parse_problem(cat(shape, " in=", type)), {.device = "cuda"});
      // Sums of 16-bit elements are left to the matrix units; the same bits are promised of the
      // others.
      const bool units = plan.problem.in == DType::f16 || plan.problem.in == DType::bf16;
      const Algorithm& chosen = find_algorithm(plan.algorithm);
      EXPECT_TRUE(units || chosen.same_bits || chosen.promises_bits(plan.problem.in));
      EXPECT_EQ(plan.rejected.size(), algorithms().size() - 1);
      for (const auto& rejected : plan.rejected) {
        EXPECT_FALSE(rejected.reason.empty()) << rejected.algorithm;
        if (rejected.algorithm == "packed") {
          EXPECT_EQ(rejected.reason, "it runs on CPUs only");
        }
      }
    }
  }
}

/// A device that is not here is taken for Hopper, which has bulk copies.
TEST_F(CudaPlan, ProductsOfF32TakeTilesThatFillTheDevice) {
  const int capability = cuda::abilities(0).capability;
  const bool is_hopper = capability == 0 || capability == 90;
  const auto chosen = [](const char* text) {
    const Plan plan = make_plan(parse_problem(text), {.device = "cuda"});
    return cat(plan.algorithm, " ", to_string(plan.tile));
  };
  if (is_hopper) {
    EXPECT_EQ(chosen("m=4096 n=4096 k=4096"), "bulk_tiled 256x128x32/16x8");
    EXPECT_EQ(chosen("m=2560 n=1280 k=64"), "bulk_tiled 256x128x32/16x8");
    EXPECT_EQ(chosen("m=2304 n=1280 k=64"), "bulk_tiled 64x64x32/8x4");
    EXPECT_EQ(chosen("m=1024 n=1024 k=64"), "bulk_tiled 64x64x32/8x4");
  }
  // Their rows begin at no multiples of 16 bytes.
  EXPECT_EQ(chosen("m=4096 n=4096 k=4095"), "pipelined 256x128x16/16x8");
  EXPECT_EQ(chosen("m=2560 n=1280 k=63"), "pipelined 256x128x16/16x8");
  EXPECT_EQ(chosen("m=2304 n=1280 k=63"), "pipelined 64x128x16/8x8");
  EXPECT_EQ(chosen("m=1024 n=1024 k=63"), "pipelined 64x64x16/8x4");
  EXPECT_EQ(chosen("m=4096 n=31 k=4096"), "coalescing 32x32");
  EXPECT_EQ(chosen("m=4096 n=4096 k=4096 in=f64"), "tensor_core 128x128x16/64x32");
}

/// A device that is not here is taken for Hopper, whose units are a warpgroup's.
TEST_F(CudaPlan, ProductsOf16BitsTakeWarpgroupsWhereBulkCopiesReadTheOperands) {
  const int capability = cuda::abilities(0).capability;
  if (capability != 0 && capability != 90)
    GTEST_SKIP() << "NOT TESTED: the device has no warpgroup units";
  const auto plan_of = [](const char* text) {
    return make_plan(parse_problem(text), {.device = "cuda"});
  };
  const auto chosen = [&](const char* text) {
    const Plan plan = plan_of(text);
    return cat(plan.algorithm, " ", to_string(plan.tile));
  };
  EXPECT_EQ(chosen("m=8192 n=8192 k=8192 in=bf16"), "warpgroup 128x192/128x192");
  EXPECT_EQ(chosen("m=4096 n=4096 k=4096 in=f16"), "warpgroup 128x256/64x256");
  EXPECT_EQ(chosen("m=2048 n=2048 k=2048 in=f16"), "warpgroup 128x256/64x256");
  EXPECT_EQ(chosen("m=3072 n=1920 k=2048 in=f16"), "warpgroup 128x128/128x128");
  EXPECT_EQ(chosen("m=1024 n=1024 k=1024 in=f16"), "warpgroup 128x64/64x64");
  EXPECT_EQ(chosen("m=65 n=72 k=4096 in=bf16 out=f32"), "warpgroup 64x64/64x64");
  EXPECT_EQ(chosen("m=64 n=64 k=4096 in=bf16 out=f32"), "warpgroup 64x64/64x64");
  EXPECT_EQ(chosen("m=64 n=28672 k=4096 in=bf16 b=1:4096"), "warpgroup 64x64/64x64");
  EXPECT_EQ(chosen("m=1 n=4096 k=4096 in=bf16 b=1:4096"), "thin 32x8");
  EXPECT_EQ(chosen("m=16 n=28672 k=4096 in=f16 b=1:4096"), "thin 64x16");
  EXPECT_EQ(chosen("m=4096 n=30 k=4096 in=f16 b=1:4096"), "thin 32x32");
  const Plan odd = plan_of("m=4096 n=4096 k=4095 in=f16");
  EXPECT_EQ(odd.algorithm, "tensor_core");
  const auto why = std::find_if(odd.rejected.begin(), odd.rejected.end(),
                                [](const auto& each) { return each.algorithm == "warpgroup"; });
  ASSERT_NE(why, odd.rejected.end());
  EXPECT_EQ(why->reason, "A: its rows are 8190 bytes apart, which is no multiple of 16");
}

TEST_F(CudaPlan, NamesStagesAndHowMuchSlowerTheModelTakesTheOthersFor) {
  const auto reason_of = [](const char* text) {
    return make_plan(parse_problem(text), {.device = "cuda"}).reason;
  };
  const int capability = cuda::abilities(0).capability;
  if (capability == 0 || capability == 90) {
    EXPECT_THAT(reason_of("m=4096 n=4096 k=4096 in=bf16"), ::testing::HasSubstr("(4 stages)"));
    EXPECT_THAT(reason_of("m=1 n=4096 k=4096 in=bf16 b=1:4096"), ::testing::HasSubstr(" stages)"));
  }
  const Plan plan = make_plan(parse_problem("m=4096 n=4096 k=4095"), {.device = "cuda"});
  EXPECT_THAT(plan.reason, ::testing::HasSubstr("(3 stages)"));
  const auto why = std::find_if(plan.rejected.begin(), plan.rejected.end(),
                                [](const auto& each) { return each.algorithm == "naive"; });
  ASSERT_NE(why, plan.rejected.end());
  EXPECT_THAT(why->reason, ::testing::HasSubstr("expected to be slower; by the model 9"));
}

/// A device that is not here is taken for Hopper.
TEST_F(CudaPlan, TuningHasCandidatesForEveryTypeTheLikeliestFirst) {
  const int capability = cuda::abilities(0).capability;
  if (capability != 0 && capability != 90)
    GTEST_SKIP() << "NOT TESTED: the device has no warpgroup units";
  const auto candidates = [](const char* text) {
    const auto all = candidates_for(parse_problem(text), "cuda:0");
    std::vector<std::string> out;
    for (const auto& each : all) out.push_back(cat(each.algorithm, " ", to_string(each.tile)));
    return out;
  };
  EXPECT_EQ(candidates("m=4096 n=4096 k=4096 in=bf16").at(0), "warpgroup 128x128/128x128");
  EXPECT_LE(candidates("m=4096 n=4096 k=4096 in=bf16").size(), 8u) << "others have no chance";
  EXPECT_EQ(candidates("m=4096 n=4096 k=4096").at(0), "bulk_tiled 256x128x32/16x8");
  EXPECT_EQ(candidates("m=1024 n=1024 k=1024").at(0), "bulk_tiled 64x64x32/8x4");
  EXPECT_EQ(candidates("m=4096 n=4096 k=4096 in=f64").at(0), "tensor_core 128x128x16/64x32");
  EXPECT_THAT(candidates("m=1 n=4096 k=4096 in=bf16 b=1:4096").at(0),
              ::testing::StartsWith("thin "));
  EXPECT_EQ(candidates("m=4096 n=4096 k=4096 in=f8e4m3 out=f32 b=1:4096").size(), 6u);
  EXPECT_EQ(candidates("m=4096 n=4096 k=4096 in=i8 out=i32 b=1:4096").size(), 7u);
}

TEST_F(CudaPlan, WhatRunsOnCpusOnlyIsRefusedWithTheReason) {
  const Problem p = parse_problem("m=64 n=64 k=64");
  for (const char* name : {"packed", "split_k"})
    EXPECT_THAT(
        refusal([&] { make_plan(p, {.algorithm = name, .device = "cuda"}); }, Category::argument),
        HasSubstr(cat(name, " cannot run this product: it runs on CPUs only")));
  const std::string text = to_string(make_plan(p, {.algorithm = "packed"})) + " device=cuda:0";
  EXPECT_THAT(refusal([&] { parse_plan(text); }, Category::argument),
              HasSubstr("it runs on CPUs only"));
}

TEST_F(CudaPlan, TilesBuiltInForF32OnlyAreRefusedForOtherTypes) {
  const TileShape small{.bm = 16, .bn = 16, .bk = 16};
  const Options options{.algorithm = "tiled", .tile = small, .device = "cuda"};
  EXPECT_EQ(make_plan(parse_problem("m=5 n=5 k=5 in=f32"), options).tile, small);
  EXPECT_THAT(
      refusal([&] { make_plan(parse_problem("m=5 n=5 k=5 in=f64"), options); }, Category::argument),
      HasSubstr("not built in for f64 (built: 32x32x64)"));
}

TEST_F(CudaPlan, DoesNotRunOnTheCpu) {
  float values[4] = {};
  const Matrix m{values, DType::f32, 1, 1, 1, 1};
  const Matrix c{values + 1, DType::f32, 1, 1, 1, 1};
  const Plan plan = make_plan(make_problem(m, m, c), {.device = "cuda"});
  EXPECT_THAT(refusal([&] { run(plan, m, m, c); }, Category::argument), HasSubstr("cuda::run"));
}

}  // namespace
}  // namespace tessera
