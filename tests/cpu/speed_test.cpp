// The speed of this core, for estimates of work: measured, bounded, and never lower than it
// was.
#include <gtest/gtest.h>

#include <cfenv>
#include <thread>
#include <vector>

#include "choose_kernels.hpp"
#include "expected_time.hpp"
#include "packed/product.hpp"

namespace tessera::cpu {
namespace {

TEST(Speed, IsMeasuredAndDoesNotFall) {
  int before = vectors_in_16_ns();
  for (int call = 0; call < 50; ++call) {
    const int now = vectors_in_16_ns();
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GE(before, 16);
  EXPECT_LE(before, 256);  // 4 multiply-adds in a cycle of 4 GHz
}

TEST(Speed, MeasuringRaisesNoException) {
  std::fexcept_t before;
  std::fegetexceptflag(&before, FE_ALL_EXCEPT);
  std::feclearexcept(FE_ALL_EXCEPT);
  EXPECT_GE(measured_vectors_in_16_ns(), 0);
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
  std::fesetexceptflag(&before, FE_ALL_EXCEPT);
}

TEST(Speed, EstimatesOfAnyProductArePositive) {
  for (const index_t n : {index_t{1} << 18, index_t{1} << 20, index_t{1} << 21, index_t{1} << 40}) {
    EXPECT_GT((expected_ns<double, double>(n, n, n, kPortable.f64)), 1'000'000'000) << n;
    EXPECT_GT((expected_ns<float, float>(n, n, n, plain_kernels<float>())), 1'000'000'000) << n;
  }
}

TEST(Speed, MayBeAskedByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int call = 0; call < 20; ++call) EXPECT_GE(vectors_in_16_ns(), 16);
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tessera::cpu
