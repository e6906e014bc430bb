// What the command finds out of the machine: how busy others keep its processors.
#include "machine.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "bench_support.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using testing::Ran;
using testing::run_bench;

int first_processor() {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0) return 0;
  int first = 0;
  while (!CPU_ISSET(first, &own)) ++first;
  return first;
}

TEST(Machine, TicksAreThoseOfItsOwnProcessors) {
  // user nice system idle iowait irq softirq steal guest guest_nice
  const std::string stat = cat("cpu  9 9 9 9 9 9 9 9 9 9\ncpu", first_processor(),
                               " 1 2 3 100 50 4 5 6 1 2\ncpu1023 7 0 0 7 0 0 0 0 0 0\nintr 5 0\n");
  const ProcessorTicks ticks = processor_ticks(stat);
  EXPECT_EQ(ticks.processors, 1);
  EXPECT_EQ(ticks.busy, 1 + 2 + 3 + 4 + 5 + 6);
  EXPECT_EQ(ticks.all, ticks.busy + 150);
  for (const char* other : {"", "cpu", "cpu 1 2\n", "cpu\n", "cpuX 1\n", "cpu99999999999 1 2\n"})
    EXPECT_EQ(processor_ticks(other).processors, 0) << other;
}

TEST(Machine, ABenchmarkWarnsOfOtherPrograms) {
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    others.emplace_back([&done] {
      while (!done.load(std::memory_order_relaxed)) {
      }
    });
  const bool is_seen = busy_processors(0.1) >= 0.5;
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
}  // namespace tessera::cli
