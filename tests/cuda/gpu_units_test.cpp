// The matrix units of a GPU against their arithmetic, bit by bit.
#include <gtest/gtest.h>

#include "gpu_support.hpp"
#include "unit_bits.hpp"

namespace tessera::testing {
namespace {

TEST(GpuUnits, EveryInstructionGivesTheBitsOfTheArithmetic) {
  need_gpu();
  if (::testing::Test::IsSkipped()) return;
  const auto reports = compare_unit_bits(128);  // 16,384 elements of each kind
  if (reports.empty()) GTEST_SKIP() << "NOT TESTED: neither sm_80 nor sm_90";
  for (const auto& report : reports) {
    EXPECT_EQ(report.different, 0)
        << report.instruction << ", " << report.operands << ", of " << report.compared << "\n"
        << report.text;
  }
}

}  // namespace
}  // namespace tessera::testing
