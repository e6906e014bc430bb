// What bounds a kernel and what to change: two kernels whose counters are known, on devices whose
// numbers are known.
#include "tessera/check/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "check/reports.hpp"

using namespace tessera;
using namespace tessera::check;
using testing::HasSubstr;

namespace {

const ResourceTime& resource(const Explanation& e, std::string_view name) {
  for (const ResourceTime& r : e.resources)
    if (r.name == name) return r;
  ADD_FAILURE() << "no resource " << name;
  return e.resources.front();
}

/// The number of the first advice whose problem has this text, or -1.
int advice_with(const Explanation& e, const std::string& text) {
  for (std::size_t i = 0; i < e.advice.size(); ++i)
    if (e.advice[i].problem.find(text) != std::string::npos) return static_cast<int>(i);
  return -1;
}

// 1024^3, f32: 2^25 warp multiply-adds, each with a load of 32 sectors and one of 1 sector.
TEST(Explain, TimesOfTheNaiveKernelAreThoseCountedByHand) {
  const Explanation e = explain(naive_report(1024), h200());
  EXPECT_EQ(e.blocks, 1024);
  EXPECT_EQ(e.busy_sms, 132);
  EXPECT_EQ(e.dtype, DType::f32);
  EXPECT_FALSE(e.on_tensor_cores);
  EXPECT_EQ(e.traffic.flops, 0x1p31);
  EXPECT_EQ(e.traffic.compulsory_bytes, 3 * 4 * 0x1p20);
  const double loads = 0x1p25, stores = 0x1p15;
  EXPECT_EQ(e.traffic.l1_bytes, 32 * (33 * loads + 32 * stores));
  EXPECT_NEAR(resource(e, "multiply-adds").least_us, 0x1p31 / 67e12 * 1e6, 1e-9);
  // A request takes a quarter of a clock for each sector: 8.25 for the two loads together.
  EXPECT_NEAR(resource(e, "shared memory and L1").least_us,
              (8.25 * loads + 8 * stores) / (1.98e9 * 132) * 1e6, 1e-6);
  const ResourceTime& dram = resource(e, "DRAM");
  EXPECT_NEAR(dram.least_us, 12 * 0x1p20 / 4.8e12 * 1e6, 1e-9);
  EXPECT_NEAR(dram.most_us, e.traffic.l1_bytes / 4.8e12 * 1e6, 1e-6);
  EXPECT_EQ(e.resources[e.busiest].name, "shared memory and L1");
  EXPECT_EQ(e.resources[e.busiest_uncached].name, "DRAM");
  EXPECT_THAT(e.verdict, HasSubstr("bound by shared memory and L1"));
  EXPECT_THAT(e.verdict, HasSubstr("by DRAM"));
  EXPECT_NEAR(sectors_per_request(naive_report(1024).total), 16.5, 0.01);
}

TEST(Explain, TheNaiveKernelIsToldToCoalesceAndToStage) {
  const Explanation e = explain(naive_report(1024), h200());
  const int coalesce = advice_with(e, "touches 16.5 sectors");
  ASSERT_GE(coalesce, 0);
  EXPECT_EQ(e.advice[coalesce].location.line, 27);
  EXPECT_THAT(e.advice[coalesce].problem, HasSubstr("A: 32 where 4 would do"));
  EXPECT_GE(advice_with(e, "times on average"), 0);
  EXPECT_EQ(advice_with(e, "bank conflicts"), -1);
  for (std::size_t i = 1; i < e.advice.size(); ++i)
    EXPECT_GE(e.advice[i - 1].saved_us, e.advice[i].saved_us);
}

TEST(Explain, ATiledKernelIsToldToKeepMoreInRegisters) {
  const Explanation e = explain(tiled_report(1024), h200());
  EXPECT_EQ(e.resources[e.busiest].name, "shared memory and L1");
  EXPECT_EQ(e.busiest, e.busiest_uncached);
  EXPECT_GE(advice_with(e, "needs 2 loads from shared memory"), 0);
  EXPECT_EQ(advice_with(e, "bank conflicts"), -1);
  EXPECT_EQ(advice_with(e, "sectors"), -1);
  EXPECT_EQ(advice_with(e, "times on average"), -1) << "it stages already";
}

TEST(Explain, BankConflictsAreTheFirstAdviceWhereTheyCostMost) {
  const Explanation e = explain(tiled_report(1024, true), h200());
  ASSERT_FALSE(e.advice.empty());
  EXPECT_THAT(e.advice[0].problem, HasSubstr("takes 16.5 wavefronts instead of 1"));
  EXPECT_THAT(e.advice[0].problem, HasSubstr("tile A: 32 where 1 would do"));
  EXPECT_EQ(e.advice[0].location.line, 46);
  // Of two loads of a tile one takes 32 passes: 33 for 2, and 2 stores for each 64 loads.
  EXPECT_NEAR(conflict_factor(tiled_report(1024, true).total), (33.0 * 32 + 2) / (2.0 * 32 + 2),
              1e-9);
  EXPECT_EQ(conflict_factor(tiled_report(1024).total), 1);
}

TEST(Explain, AGridThatIsTooSmallIsSaid) {
  const Explanation e = explain(tiled_report(64), h200());
  EXPECT_EQ(e.busy_sms, 4);
  EXPECT_GE(advice_with(e, "4 blocks for 132 multiprocessors"), 0);
  EXPECT_NEAR(resource(e, "multiply-adds").least_us, 2.0 * 64 * 64 * 64 / (67e12 * 4 / 132) * 1e6,
              1e-9);
}

TEST(Explain, SampledBlocksStandForAll) {
  Report r = naive_report(1024);
  r.summary.blocks *= 4;
  r.grid.y *= 4;
  const Explanation e = explain(r, h200());
  EXPECT_EQ(e.traffic.flops, 4 * 0x1p31);
}

TEST(Explain, MatrixInstructionsAreMeasuredAgainstMatrixUnits) {
  Report r = tiled_report(1024);
  r.total.mma_flops = r.total.flops;
  r.total.flops = r.total.fma_threads = 0;
  for (Coverage& c : r.coverage) c.dtype = DType::bf16;
  const Explanation e = explain(r, h200());
  EXPECT_TRUE(e.on_tensor_cores);
  EXPECT_EQ(e.peak_flops, 989e12);
  EXPECT_NEAR(resource(e, "matrix units").least_us, 0x1p31 / 989e12 * 1e6, 1e-9);
  EXPECT_EQ(e.traffic.compulsory_bytes, 3 * 2 * 0x1p20);
}

TEST(Explain, BulkCopiesAndOperandsOfUnitsAreTraffic) {
  Report r = tiled_report(1024);
  const Explanation before = explain(r, h200());
  r.total.bulk_copy_sectors = 3000, r.total.bulk_copy_bytes = 96000;
  r.total.bulk_store_sectors = 1000, r.total.bulk_store_bytes = 32000;
  r.total.unit_operand_wavefronts = 5000, r.total.unit_operand_wavefronts_ideal = 2500;
  const Explanation e = explain(r, h200());
  EXPECT_EQ(e.traffic.l1_bytes - before.traffic.l1_bytes, 32 * 4000);
  EXPECT_NEAR(resource(e, "shared memory and L1").least_us -
                  resource(before, "shared memory and L1").least_us,
              (5000 + 128000 / 128) / (1.98e9 * 132) * 1e6, 1e-9);
  EXPECT_GT(conflict_factor(r.total), 1);
}

TEST(Explain, AComputeBoundKernelIsToldOfMatrixUnits) {
  Report r = tiled_report(1024);
  r.total.shared_load_wavefronts /= 64;  // as if a thread tile kept all but a little in registers
  r.total.shared_load_wavefronts_ideal /= 64;
  r.total.shared_load_requests /= 64;
  const Explanation e = explain(r, h200());
  EXPECT_EQ(e.resources[e.busiest].name, "multiply-adds");
  EXPECT_GE(advice_with(e, "the multiply-adds are the limit"), 0);
}

TEST(Explain, ABlockThatDoesNotFitIsTheFirstThingSaid) {
  Report r = tiled_report(1024);
  r.shared_bytes = 256 * 1024;
  const Explanation e = explain(r, h200());
  EXPECT_EQ(e.occupancy.blocks, 0);
  EXPECT_THAT(e.advice.at(0).problem, HasSubstr("does not fit"));
  EXPECT_THAT(e.advice.at(0).problem, HasSubstr("shared memory"));
}

TEST(Explain, RegistersCountWhereTheyAreKnown) {
  EXPECT_EQ(explain(naive_report(1024), h200()).occupancy.warps, 64);
  Report r = naive_report(1024);
  r.registers = 64;
  EXPECT_EQ(explain(r, h200()).occupancy.warps, 32);
}

TEST(Explain, IdleLanesAreSaid) {
  Report r = naive_report(1024);
  r.block = {9, 1};
  r.total.partial_requests = r.total.global_load_requests;
  EXPECT_GE(advice_with(explain(r, h200()), "a block has 9 threads"), 0);
}

TEST(Explain, AnEmptyReportIsExplainedToo) {
  const Explanation e = explain(Report{}, h200());
  EXPECT_EQ(e.verdict, "idle: it does nothing that is counted");
  EXPECT_EQ(e.roofline.compulsory, 0);
  EXPECT_TRUE(std::isfinite(e.roofline.ridge));
  EXPECT_EQ(sectors_per_request({}), 0);
}

}  // namespace
