// The numbers agree with each other, and occupancy and roofline with values that NVIDIA's own tools
// and data sheets give.
#include "tessera/check/device_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tessera/core/error.hpp"

using namespace tessera;
using namespace tessera::check;
using testing::HasSubstr;

namespace {

TEST(DeviceModel, PeaksFollowFromMultiprocessorsLanesAndClock) {
  EXPECT_EQ(device_models().size(), 3u);
  for (const DeviceModel& d : device_models()) {
    const double f32 = 2.0 * d.sms * d.f32_fma_per_sm_clock * d.clock_hz;
    EXPECT_NEAR(d.f32_flops / f32, 1, 0.005) << d.name;
    EXPECT_NEAR(d.f64_flops / d.f32_flops, 0.5, 0.01) << d.name;
    EXPECT_NEAR(d.tensor_f16_flops / d.tensor_tf32_flops, 2, 0.01) << d.name;
    EXPECT_NEAR(d.tensor_i8_ops / d.tensor_f16_flops, 2, 0.01) << d.name;
    const double of_f8 = d.capability >= 90 ? d.tensor_i8_ops : 0;
    EXPECT_EQ(peak_flops(d, DType::f8e4m3, Unit::tensor_cores), of_f8) << d.name;
    EXPECT_EQ(d.smem_per_sm_bytes - d.smem_per_block_bytes, d.smem_reserved_bytes) << d.name;
    EXPECT_FALSE(d.source.empty());
  }
}

TEST(DeviceModel, KnowsWhatTheDataSheetsSay) {
  const DeviceModel &a100 = device_model("a100"), &h200 = device_model("h200");
  EXPECT_EQ(a100.sms, 108);
  EXPECT_EQ(a100.smem_per_block_bytes, 166912);  // as cudaDevAttrMaxSharedMemoryPerBlockOptin
  EXPECT_EQ(h200.smem_per_block_bytes, 232448);
  EXPECT_EQ(device_model("h100").sms, h200.sms);
  EXPECT_EQ(h200.dram_bytes_per_s, 4.8e12);
}

TEST(DeviceModel, AnUnknownNameIsAnsweredWithTheNearest) {
  try {
    device_model("h220");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::argument);
    EXPECT_THAT(error.what(), HasSubstr("one of a100, h100, h200"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'h200'?"));
  }
}

TEST(DeviceModel, PeaksByTypeAndUnit) {
  const DeviceModel& d = device_model("h100");
  EXPECT_EQ(peak_flops(d, DType::f32, Unit::cores), 67e12);
  EXPECT_EQ(peak_flops(d, DType::bf16, Unit::cores), 67e12);
  EXPECT_EQ(peak_flops(d, DType::f64, Unit::cores), 34e12);
  EXPECT_EQ(peak_flops(d, DType::i32, Unit::cores), 2.0 * 132 * 64 * 1.98e9);
  EXPECT_EQ(peak_flops(d, DType::i8, Unit::cores), 0);
  EXPECT_EQ(peak_flops(d, DType::f32, Unit::tensor_cores), 494.5e12);
  EXPECT_EQ(peak_flops(d, DType::bf16, Unit::tensor_cores), 989e12);
  EXPECT_EQ(peak_flops(d, DType::i8, Unit::tensor_cores), 1979e12);
}

struct Case {
  BlockNeeds needs;
  int blocks, warps;
  OccupancyLimit limit;
};

void expect_occupancy(const DeviceModel& device, const Case& c) {
  const Occupancy found = occupancy(device, c.needs);
  EXPECT_EQ(found.blocks, c.blocks) << c.needs.threads << " threads";
  EXPECT_EQ(found.warps, c.warps) << c.needs.threads << " threads";
  EXPECT_EQ(found.limit, c.limit) << c.needs.threads << " threads: " << to_string(found.limit);
}

TEST(Occupancy, IsThatOfNvidiasCalculator) {
  using enum OccupancyLimit;
  const DeviceModel& h = device_model("h100");
  for (const Case& c :
       {Case{{1024}, 2, 64, warps}, Case{{256}, 8, 64, warps}, Case{{32}, 32, 32, blocks},
        Case{{9}, 32, 32, blocks}, Case{{256, 0, 32}, 8, 64, warps},
        Case{{256, 0, 33}, 6, 48, registers},  // 33 are given as 40
        Case{{256, 0, 64}, 4, 32, registers}, Case{{256, 0, 128}, 2, 16, registers},
        Case{{256, 0, 255}, 1, 8, registers}, Case{{1024, 0, 64}, 1, 32, registers},
        Case{{128, 48 * 1024}, 4, 16, shared_memory}, Case{{128, 227 * 1024}, 1, 4, shared_memory},
        Case{{1024, 8192}, 2, 64, warps}})
    expect_occupancy(h, c);
  expect_occupancy(device_model("a100"), {{128, 48 * 1024}, 3, 12, shared_memory});
}

TEST(Occupancy, ABlockThatIsTooLargeDoesNotFitAndSaysWhy) {
  using enum OccupancyLimit;
  const DeviceModel& h = device_model("h100");
  expect_occupancy(h, {{1025}, 0, 0, threads_per_block});
  expect_occupancy(h, {{128, 227 * 1024 + 1}, 0, 0, shared_memory});
  expect_occupancy(h, {{1024, 0, 128}, 0, 0, registers});
  expect_occupancy(h, {{32, 0, 256}, 0, 0, registers});
  EXPECT_EQ(occupancy(h, {1025}).fraction(), 0);
  EXPECT_EQ(occupancy(h, {256, 0, 64}).fraction(), 0.5);
}

TEST(Roofline, LiesBetweenEverySectorMissedAndEveryByteLoadedOnce) {
  const DeviceModel& h = device_model("h200");
  // A product of 1024 x 1024 x 1024 f32: 12 MiB once; 2^28 sectors is 8 GiB.
  const Roofline r = roofline(h, {0x1p31, 12 * 0x1p20, 0x1p33}, h.f32_flops);
  EXPECT_DOUBLE_EQ(r.compulsory, 0x1p31 / (12 * 0x1p20));
  EXPECT_DOUBLE_EQ(r.l1, 0.25);
  EXPECT_EQ(r.dram_low, r.l1);
  EXPECT_EQ(r.dram_high, r.compulsory);
  EXPECT_NEAR(r.ridge, 67 / 4.8, 1e-9);
  EXPECT_DOUBLE_EQ(r.attainable_low, 0.25 * 4.8e12);
  EXPECT_DOUBLE_EQ(r.attainable_high, 67e12);
  EXPECT_EQ(bound_of(r), Bound::cache);
}

TEST(Roofline, SaysWhatBounds) {
  const DeviceModel& h = device_model("h200");
  const auto bound = [&](double flops, double once, double all) {
    return bound_of(roofline(h, {flops, once, all}, h.f32_flops));
  };
  EXPECT_EQ(bound(1e9, 1e9, 2e9), Bound::memory);
  EXPECT_EQ(bound(1e12, 1e9, 2e9), Bound::compute);
  EXPECT_EQ(bound(2e10, 1e9, 2e10), Bound::cache);
  EXPECT_EQ(bound(0, 1e9, 1e9), Bound::memory);
  EXPECT_EQ(bound(1, 0, 0), Bound::compute);
  EXPECT_TRUE(std::isinf(roofline(h, {1, 0, 0}, h.f32_flops).compulsory));
}

TEST(Roofline, NamesAreForReading) {
  EXPECT_EQ(to_string(Bound::memory), "memory");
  EXPECT_EQ(to_string(Bound::compute), "compute");
  EXPECT_EQ(to_string(Bound::cache), "caches");
  EXPECT_EQ(to_string(OccupancyLimit::shared_memory), "shared memory");
}

}  // namespace
