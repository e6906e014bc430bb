// Schedules of a matrix times its transpose: each element of C is written once, computed or as the
// copy of one above the diagonal, and the steps read what the plan says.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "scale/steps.hpp"
#include "tessera/core/error.hpp"

namespace tessera::scale {
namespace {

Schedule symmetric_schedule(index_t n, index_t k, index_t memory) {
  ScheduleRequest request;
  request.shape = {n, n, k}, request.memory = memory, request.symmetric = true;
  return plan_schedule(request);
}

void check_parts(const Schedule& s) {
  const index_t n = s.shape.M;
  std::vector<int> written(static_cast<std::size_t>(n * n));
  const auto write = [&](const Part& part) {
    for (index_t i = part.i0; i < part.i1; ++i) {
      for (index_t j = part.j0; j < part.j1; ++j) ++written[static_cast<std::size_t>(i * n + j)];
    }
  };
  double computed = 0;
  for (index_t block = 0; block < s.blocks_down() * s.blocks_across(); ++block) {
    const auto parts = parts_of(s, place_of(s, block));
    RC_ASSERT(parts.empty() != has_parts(s, place_of(s, block)));
    for (const BlockPart& part : parts) {
      write(part.computed), write(part.mirror);
      computed += static_cast<double>(part.computed.rows() * part.computed.cols());
    }
  }
  RC_ASSERT(std::all_of(written.begin(), written.end(), [](int times) { return times == 1; }));
  RC_ASSERT(computed <= s.work() * static_cast<double>(n * n) * 1.01 + 1);
}

void check_reads(const Schedule& s) {
  double a = 0, b = 0;
  const Steps steps(s);
  for (index_t n = 0; n < steps.count(); ++n) {
    const Step step = steps.at(n);
    const Part of_a = a_of(s, step), of_b = b_of(s, step);
    if (step.loads_a) a += 4 * static_cast<double>(of_a.rows() * of_a.cols());
    if (step.loads_b) b += 4 * static_cast<double>(of_b.rows() * of_b.cols());
  }
  RC_ASSERT(a == s.read_a);
  RC_ASSERT(b == s.read_b);
}

RC_GTEST_PROP(SymmetricSchedule, WritesEachElementOnceAndReadsWhatItPlans, ()) {
  const index_t n = *rc::gen::inRange<index_t>(1, 900), k = *rc::gen::inRange<index_t>(1, 300);
  const index_t whole = 4 * (2 * n * k + n * n);
  const Schedule s = symmetric_schedule(n, k, whole / *rc::gen::inRange<index_t>(1, 40) + 4096);
  check_parts(s);
  check_reads(s);
}

TEST(SymmetricSchedule, ComputesAboutHalf) {
  for (const index_t n : {8192, 20000, 1000000}) {
    const Schedule s = symmetric_schedule(n, 256, index_t{1} << 30);
    EXPECT_LE(s.work(), 0.54);
    EXPECT_LE(s.moved() / s.bound, 3);
  }
}

}  // namespace
}  // namespace tessera::scale
