// The cases of a sweep and what becomes of them: every pair of extents, the smallest failing case
// first, the time limit kept.
#include "tessera/check/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "check/reports.hpp"
#include "tessera/check/format.hpp"

namespace tessera::check {
namespace {

using testing::HasSubstr;
using Status = SweptCase::Status;

Report clean_report() {
  Report report;
  report.kernel = "mine";
  report.summary.blocks = report.summary.checked_blocks = 1;
  return report;
}

Report race_report(int line = 20) {
  Report report = clean_report();
  Finding race;
  race.location = {"mine.cpp", line, 1};
  race.problem = "nothing orders the two";
  report.findings.push_back(race);
  report.summary.errors = 1;
  report.summary.clean = false;
  return report;
}

TEST(SweepCases, EachTwoExtentsMeetInEveryCombination) {
  const std::set<index_t> extents = {1, 7, 8, 9, 17, 19};
  std::set<std::pair<index_t, index_t>> mn, mk, nk;
  for (const SweepCase& each : sweep_cases({8, 8, 8})) {
    mn.insert({each.m, each.n});
    mk.insert({each.m, each.k});
    nk.insert({each.n, each.k});
  }
  for (const index_t a : extents) {
    for (const index_t b : extents) {
      for (const auto& [pairs, what] :
           {std::pair{mn, "m, n"}, std::pair{mk, "m, k"}, std::pair{nk, "n, k"}})
        EXPECT_EQ(pairs.count({a, b}), 1u) << what << ": " << a << ", " << b;
    }
  }
}

TEST(SweepCases, NothingAndLongSidesAndAllStridesAreThereInEveryOrder) {
  for (const SweepTile& tile : {SweepTile{16, 16, 16}, SweepTile{128, 64, 8}, SweepTile{1, 1, 1}}) {
    const auto cases = sweep_cases(tile);
    const auto has = [&](const auto& is_wanted) {
      std::set<ThreadOrder> orders;
      for (const SweepCase& each : cases)
        if (is_wanted(each)) orders.insert(each.order);
      return orders.size() == 3;
    };
    EXPECT_TRUE(has([](const auto& c) { return c.m == 0 && c.n > 0 && c.k > 0; }));
    EXPECT_TRUE(has([](const auto& c) { return c.m > 0 && c.n == 0 && c.k > 0; }));
    EXPECT_TRUE(has([](const auto& c) { return c.m > 0 && c.n > 0 && c.k == 0; }));
    EXPECT_TRUE(has([](const auto& c) { return c.m > 1000 && c.n < 9 && c.k < 9; }));
    EXPECT_TRUE(has([](const auto& c) { return c.m < 9 && c.n > 1000 && c.k < 9; }));
    EXPECT_TRUE(has([](const auto& c) { return c.m < 9 && c.n < 9 && c.k > 1000; }));
    for (std::size_t i = 0; i < kProductStridesNames.size(); ++i)
      EXPECT_TRUE(has([&](const auto& c) { return c.strides == static_cast<ProductStrides>(i); }));
  }
}

/// Around the tile with operands that bulk copies can read, and at two shapes with all others.
TEST(SweepCases, ARingTurnsLessThanOnceOnceAndMoreInFourOrders) {
  const SweepTile tile{.m = 128,
                       .n = 256,
                       .k = 64,
                       .turn = 256,
                       .strides = ProductStrides::aligned,
                       .is_async = true};
  const auto cases = sweep_cases(tile);
  const auto orders_with = [&](const auto& is_wanted) {
    std::set<ThreadOrder> orders;
    for (const SweepCase& each : cases)
      if (each.strides == tile.strides && is_wanted(each.k)) orders.insert(each.order);
    return orders.size();
  };
  EXPECT_EQ(orders_with([](index_t k) { return k == 1; }), 4u);
  EXPECT_EQ(orders_with([](index_t k) { return k > 64 && k < 256; }), 4u);
  EXPECT_EQ(orders_with([](index_t k) { return k == 256; }), 4u);
  EXPECT_EQ(orders_with([](index_t k) { return k == 257; }), 4u);
  EXPECT_EQ(orders_with([](index_t k) { return k > 512; }), 4u);
  std::map<ProductStrides, int> shapes;
  for (const SweepCase& each : cases)
    if (each.order == ThreadOrder::late) ++shapes[each.strides];
  EXPECT_EQ(shapes.size(), kProductStridesNames.size());
  for (const auto& [strides, count] : shapes)
    EXPECT_EQ(count == 2, strides != tile.strides) << name(strides);
}

TEST(Sweep, SaysHowManyCasesAnotherKernelRan) {
  const auto swept = sweep(sweep_cases({16, 16, 16}), 0, [](const SweepCase& one, double) {
    Report report = clean_report();
    if (one.k == 17) report.remark = "tensor_core takes its place";
    return report;
  });
  EXPECT_GT(swept.count_of_others(), 0);
  EXPECT_THAT(swept.summary_line(),
              HasSubstr(cat(", of which another kernel ran ", swept.count_of_others())));
}

TEST(SweepCases, TheSmallestComesFirstAndNoneTwice) {
  const auto cases = sweep_cases({16, 16, 16});
  const auto elements = [](const SweepCase& c) { return c.m * c.k + c.k * c.n + c.m * c.n; };
  for (std::size_t i = 1; i < cases.size(); ++i) {
    EXPECT_LE(elements(cases[i - 1]), elements(cases[i]));
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(cases[i] == cases[j]) << to_string(cases[i]);
  }
}

TEST(Sweep, NamesTheSmallestFailingCase) {
  const auto swept = sweep(sweep_cases({16, 16, 16}), 0, [](const SweepCase& one, double) {
    return one.m > 16 && one.n > 0 && one.k > 1 ? race_report() : clean_report();
  });
  ASSERT_NE(swept.smallest_failing(), nullptr);
  EXPECT_EQ(to_string(swept.smallest_failing()->which), "m=17 n=1 k=17 strides=rows order=forward");
  EXPECT_EQ(swept.exit_code(), 1);
  EXPECT_EQ(swept.count(Status::findings) + swept.count(Status::clean), std::ssize(swept.cases));
  const Report merged = swept.merged();
  ASSERT_EQ(merged.findings.size(), 1u) << "one place, one finding";
  EXPECT_THAT(merged.findings[0].problem,
              HasSubstr("two, with m=17 n=1 k=17 strides=rows order=forward"));
  EXPECT_EQ(merged.findings[0].count, swept.count(Status::findings));
  EXPECT_EQ(exit_code(merged.summary), 1);
  EXPECT_THAT(swept.summary_line(),
              testing::MatchesRegex("NOT clean: [0-9]+ of [0-9]+ cases fail"));
}

TEST(Sweep, FindingsOfSeveralCasesAreAllThereOnce) {
  const auto swept = sweep(sweep_cases({16, 16, 16}), 0, [](const SweepCase& one, double) {
    return race_report(one.order == ThreadOrder::shuffled ? 30 : 20);
  });
  EXPECT_EQ(swept.merged().findings.size(), 2u);
}

TEST(Sweep, StopsAtTheTimeLimitAndSaysWhatItLeft) {
  const auto cases = sweep_cases({16, 16, 16});
  double longest = 0;
  const auto swept = sweep(cases, 0.05, [&](const SweepCase&, double seconds_left) {
    longest = std::max(longest, seconds_left);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return clean_report();
  });
  EXPECT_TRUE(swept.timed_out);
  EXPECT_LE(longest, 0.05);
  EXPECT_GT(swept.count(Status::not_run), std::ssize(cases) / 2);
  EXPECT_EQ(swept.exit_code(), 4);
  EXPECT_THAT(swept.summary_line(), HasSubstr("not run: the time limit"));
  EXPECT_EQ(exit_code(swept.merged().summary), 4);
}

TEST(Sweep, WhatAKernelRefusesIsNoFailureButNothingCheckedIsNoSuccess) {
  const auto cases = sweep_cases({16, 16, 16});
  const auto refuse = [](const SweepCase& one, double) {
    if (one.m > 16) throw Error(Category::argument, "at most 16 rows");
    return clean_report();
  };
  const auto swept = sweep(cases, 0, refuse);
  EXPECT_EQ(swept.exit_code(), 0);
  EXPECT_THAT(swept.summary_line(), HasSubstr(" refused"));
  const auto none = sweep(cases, 0, [](const SweepCase&, double) -> Report {
    throw Error(Category::argument, "never");
  });
  EXPECT_EQ(none.exit_code(), 4);
  const auto broken = sweep(cases, 0, [](const SweepCase& one, double) -> Report {
    if (one.m == 1) throw Error(Category::unavailable, "no memory");
    return clean_report();
  });
  EXPECT_EQ(broken.exit_code(), 4);
  EXPECT_EQ(broken.cases[broken.cases.size() - 1].status, Status::clean) << "the others go on";
}

TEST(Sweep, ASuppressionIsUnusedWhereNoCaseNeededIt) {
  const auto swept = sweep(sweep_cases({16, 16, 16}), 0, [](const SweepCase& one, double) {
    Report report = race_report();
    if (one.m == 17) {
      report.suppressed.push_back({report.findings[0], "looked at"});
      report.findings.clear();
      report.summary.errors = 0, report.summary.suppressed = 1, report.summary.clean = true;
    } else {
      report.unused_suppressions = {"known.txt:1: kind=race", "known.txt:2: kind=crash"};
      return report;
    }
    report.unused_suppressions = {"known.txt:2: kind=crash"};
    return report;
  });
  const Report merged = swept.merged();
  EXPECT_EQ(merged.suppressed.size(), 1u);
  EXPECT_THAT(merged.unused_suppressions, testing::ElementsAre("known.txt:2: kind=crash"));
}

TEST(OperandLayout, HoldsEveryElementOnceAndNoMoreThanItsGaps) {
  for (std::size_t i = 0; i < kProductStridesNames.size(); ++i) {
    const auto strides = static_cast<ProductStrides>(i);
    EXPECT_EQ(parse_product_strides(name(strides)), strides);
    for (const char operand : {'A', 'B', 'C'}) {
      for (const auto& [rows, cols] : {std::pair<index_t, index_t>{5, 7}, {1, 1}, {0, 3}, {3, 0}}) {
        const OperandLayout at = operand_layout(strides, operand, rows, cols);
        std::set<index_t> seen;
        for (index_t r = 0; r < rows; ++r)
          for (index_t c = 0; c < cols; ++c) seen.insert(r * at.row_stride + c * at.col_stride);
        EXPECT_EQ(std::ssize(seen), rows * cols);
        if (!seen.empty()) {
          EXPECT_EQ(*seen.rbegin() + 1, at.elements);
        }
      }
    }
  }
  EXPECT_EQ(operand_layout(ProductStrides::transposed_b, 'B', 5, 7).row_stride, 1);
  EXPECT_EQ(operand_layout(ProductStrides::transposed_b, 'A', 5, 7).row_stride, 7);
  EXPECT_GT(operand_layout(ProductStrides::padded, 'A', 5, 7).row_stride, 7);
  EXPECT_THROW(parse_product_strides("columns"), Error);
}

TEST(Sweep, LeavesOutExtentsThatAKernelDoesNotTake) {
  const auto cases = sweep_cases({16, 16, 16}, {.m = false, .n = true, .k = false});
  std::set<index_t> extents;
  for (const SweepCase& each : cases) {
    EXPECT_EQ(each.m, 1);
    EXPECT_EQ(each.k, 1);
    EXPECT_EQ(each.strides, ProductStrides::rows);
    extents.insert(each.n);
  }
  EXPECT_EQ(cases.size(), 3 * extents.size());  // each once, in three orders
  for (const index_t wanted : {0, 1, 15, 16, 17, 33, 37, 1021})
    EXPECT_TRUE(extents.contains(wanted));
  EXPECT_EQ(sweep_cases({16, 16, 16}, {false, false, false}).size(), 3U);
}

TEST(ReadReport, GivesBackWhatTheDocumentSays) {
  Report report = tiled_report(64);
  Finding race = race_report().findings[0];
  race.memory = Memory::shared;
  race.tensor = "s.a";
  race.element = {3, 4};
  race.other = {"other.cpp", 7, 0};
  race.threads = {{1, 2, 3}, {4, 5, 6}};
  race.block = {1, 0, 0, 1};
  race.other_block.linear = -1;
  race.superstep = "load";
  race.count = 9;
  race.hint = "a barrier";
  race.also.push_back({"s.b", {"mine.cpp", 21, 5}, {}});
  report.findings.push_back(race);
  report.suppressed.push_back({race, "looked at"});
  report.unused_suppressions = {"known.txt:2: kind=crash"};
  report.summary.errors = 1;
  report.summary.suppressed = 1;
  report.summary.clean = false;
  report.summary.incomplete = "time";
  const DeviceModel& device = device_model("h200");
  const auto before = nlohmann::json::parse(to_json(report, device));
  const auto after = nlohmann::json::parse(to_json(read_report(to_json(report, device)), device));
  for (const char* key :
       {"kernel", "problem", "order", "grid", "block_dim", "shared_bytes", "summary", "findings",
        "suppressed", "unused_suppressions", "counters", "tensors", "device", "launches"})
    EXPECT_EQ(before.at(key), after.at(key)) << key;
  EXPECT_THROW(read_report("{}"), Error);
  EXPECT_THROW(read_report("no JSON"), Error);
}

}  // namespace
}  // namespace tessera::check
