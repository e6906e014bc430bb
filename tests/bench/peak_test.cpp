#include "bench/peak.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace tessera::bench {
namespace {

class PeakOf : public ::testing::TestWithParam<DType> {};

TEST_P(PeakOf, EveryTypeHasAChainThatRunsOnOneAndTwoThreads) {
  const PeakChain chain = peak_chain(GetParam());
  EXPECT_FALSE(chain.instructions.empty());
  ASSERT_GT(chain.operations, 0);
  chain.run(3, chain.operands);
  for (int threads : {1, 2}) {
    PeakMeter meter(chain, threads);
    for (int again = 0; again < 2; ++again) {
      const auto burst = meter.burst(1e-4);
      EXPECT_GT(burst.seconds, 0);
      // Whole rounds on all threads.
      const double rounds = burst.operations / chain.operations / threads;
      EXPECT_GE(rounds, 1);
      EXPECT_EQ(rounds, std::round(rounds));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PeakOf,
                         ::testing::Values(DType::f64, DType::f32, DType::f16, DType::bf16,
                                           DType::i32, DType::i8),
                         [](const ::testing::TestParamInfo<DType>& type) {
                           return to_string(type.param);
                         });

TEST(Peak, ABurstIsAboutAsLongAsAskedBesideOtherWork) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    others.emplace_back([&stop] {
      while (!stop) {
      }
    });
  PeakMeter meter(peak_chain(DType::f32), 2);
  int shorter = 0;
  for (int again = 0; again < 20; ++again) shorter += meter.burst(2e-3).seconds < 1e-3;
  stop = true;
  for (auto& other : others) other.join();
  EXPECT_LE(shorter, 2);
}

TEST(Peak, MeterEndsItsThreadsWithoutABurst) { PeakMeter meter(peak_chain(DType::f32), 3); }

TEST(Peak, DoublesHaveHalfTheLanesOfFloats) {
  EXPECT_EQ(peak_chain(DType::f32).operations, 2 * peak_chain(DType::f64).operations);
}

}  // namespace
}  // namespace tessera::bench
