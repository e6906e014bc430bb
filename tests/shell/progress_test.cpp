// The remaining time: what it says while steps of very different length run, told by their updates
// alone. No clock: the times are given.
#include "shell/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tessera::shell {
namespace {

struct Step {
  double expected, takes;  // seconds
};

/// What is shown every fifth of a second until the last step ends: elapsed and left.
std::vector<std::pair<double, double>> shown(const std::vector<Step>& steps) {
  double total = 0;
  for (const auto& step : steps) total += step.expected;
  Pace pace(total, Pace::Unit::seconds);
  std::vector<std::pair<double, double>> out;
  double now = 0, done = 0, begin = 0;
  for (const auto& step : steps) {
    pace.update(done, step.expected, begin);
    for (; now < begin + step.takes; now += 0.2) {
      const auto estimate = pace.at(now);
      EXPECT_GE(estimate.share, 0);
      EXPECT_LE(estimate.share, 1);
      out.emplace_back(now, estimate.left);
    }
    begin += step.takes, done += step.expected;
  }
  return out;
}

/// The longest time, in seconds, through which the estimate climbed without a break.
double longest_climb(const std::vector<std::pair<double, double>>& shown) {
  double longest = 0, since = 0;
  for (std::size_t i = 1; i < shown.size(); ++i) {
    if (shown[i].second <= shown[i - 1].second + 1e-9) since = shown[i].first;
    longest = std::max(longest, shown[i].first - since);
  }
  return longest;
}

double end_of(const std::vector<Step>& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const Step& step) { return sum + step.takes; });
}

/// As the ladder is: a factor of hundreds between its steps.
const std::vector<Step> kLadder = {{6, 6},     {2, 2}, {2, 2},   {3, 3},   {2, 2},      {0.2, 0.2},
                                   {0.2, 0.2}, {4, 4}, {25, 25}, {20, 20}, {0.02, 0.02}};

TEST(Pace, TellsTheRightTimeWhereStepsTakeWhatWasExpected) {
  const double end = end_of(kLadder);
  for (const auto& [now, left] : shown(kLadder)) EXPECT_NEAR(left, end - now, 1.3) << now;
  EXPECT_LT(longest_climb(shown(kLadder)), 0.3);
}

TEST(Pace, StaysNearWhereEverythingIsSlowerThanExpected) {
  auto steps = kLadder;
  for (auto& step : steps) step.takes = 2 * step.expected;
  const double end = end_of(steps);
  for (const auto& [now, left] : shown(steps)) {
    if (now < 0.3 * end) continue;  // it must learn first
    EXPECT_LT(std::abs(left - (end - now)), 0.35 * end) << now;
  }
  EXPECT_LT(longest_climb(shown(steps)), 1);
}

TEST(Pace, DoesNotClimbWhileOneStepTakesTenTimesAsLong) {
  auto steps = kLadder;
  steps[8].takes = 250;
  EXPECT_LT(longest_climb(shown(steps)), 1);
}

TEST(Pace, WalksThroughAStepButNotPastIt) {
  Pace pace(100, Pace::Unit::seconds);
  pace.update(0, 40, 0);
  double share = -1;
  for (double now = 0; now < 200; now += 1) {
    const auto estimate = pace.at(now);
    EXPECT_GE(estimate.share, share);
    EXPECT_LT(estimate.share, 0.4);
    share = estimate.share;
  }
  EXPECT_GT(share, 0.35);
  pace.update(40, 60, 200);
  EXPECT_NEAR(pace.at(200).share, 0.4, 1e-9);
}

TEST(Pace, WithoutExpectedTimesItLearnsFromTheFirstUpdate) {
  Pace pace(1000);
  pace.update(0, 100, 0);
  EXPECT_LT(pace.at(5).left, 0);  // not known yet
  pace.update(100, 100, 10);
  EXPECT_NEAR(pace.at(10).left, 90, 1e-9);
  EXPECT_NEAR(pace.at(15).left, 85, 1e-9);
  EXPECT_NEAR(pace.at(15).share, 0.15, 1e-9);
  EXPECT_LT(Pace(0).at(3).left, 0);
}

}  // namespace
}  // namespace tessera::shell
