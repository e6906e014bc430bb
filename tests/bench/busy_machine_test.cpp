// A benchmark on a machine on which other programs run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "bench/support.hpp"
#include "shell/machine.hpp"

namespace tessera::bench {
namespace {

using ::testing::HasSubstr;
using testing::Ran;
using testing::run_bench;

TEST(Bench, WarnsOfOtherPrograms) {
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    others.emplace_back([&done] {
      while (!done.load(std::memory_order_relaxed)) {
      }
    });
  const bool is_seen = shell::busy_processors(0.1) >= 0.5;
  const Ran ran = run_bench({"--sizes", "8", "--algorithms", "naive", "--peers", "none",
                             "--min-time", "0.001", "--repetitions", "2"});
  done = true;
  for (auto& each : others) each.join();
  ASSERT_EQ(ran.code, 0) << ran.err;
  if (!is_seen) GTEST_SKIP() << "the warning is NOT tested: /proc/stat does not show what is busy";
  EXPECT_THAT(ran.err, HasSubstr("other programs keep "));
  EXPECT_THAT(ran.err, HasSubstr(" processors busy: "));
}

}  // namespace
}  // namespace tessera::bench
