// The load of the machine by other processes.
#include "shell/machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "tessera/core/text.hpp"

namespace tessera::shell {
namespace {

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

}  // namespace
}  // namespace tessera::shell
