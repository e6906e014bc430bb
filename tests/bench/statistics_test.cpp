#include "bench/statistics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tessera::bench {
namespace {

TEST(Statistics, KnownAnswersForAnEvenNumberOfSamples) {
  const std::vector<double> samples = {4, 1, 3, 10};
  const Summary s = summarize(samples);
  EXPECT_EQ(s.count, 4u);
  EXPECT_DOUBLE_EQ(s.median, 3.5);
  EXPECT_DOUBLE_EQ(s.mean, 4.5);
  EXPECT_DOUBLE_EQ(s.stddev, std::sqrt((3.5 * 3.5 + 1.5 * 1.5 + 0.5 * 0.5 + 5.5 * 5.5) / 3));
  EXPECT_DOUBLE_EQ(s.cv, s.stddev / 4.5);
  EXPECT_DOUBLE_EQ(s.mad, 1.5);  // of 2.5, 0.5, 0.5, 6.5
  EXPECT_DOUBLE_EQ(s.q1, 2.5);
  EXPECT_DOUBLE_EQ(s.q3, 5.5);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 10);
}

TEST(Statistics, OneOutlierMovesNeitherMedianNorMad) {
  const std::vector<double> calm = {10, 11, 12, 13, 14}, disturbed = {10, 11, 12, 13, 1e9};
  EXPECT_EQ(summarize(calm).median, summarize(disturbed).median);
  EXPECT_EQ(summarize(calm).mad, summarize(disturbed).mad);
}

TEST(Statistics, OneSampleHasNoSpread) {
  const std::vector<double> one = {7};
  const Summary s = summarize(one);
  EXPECT_EQ(s.median, 7);
  EXPECT_EQ(s.mean, 7);
  EXPECT_EQ(s.stddev, 0);
  EXPECT_EQ(s.mad, 0);
  EXPECT_EQ(s.q1, 7);
}

TEST(Statistics, NoSampleIsNaNEverywhere) {
  const Summary s = summarize({});
  EXPECT_EQ(s.count, 0u);
  for (double value : {s.median, s.mean, s.stddev, s.cv, s.mad, s.q1, s.q3, s.min, s.max})
    EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Statistics, IntervalOfARatioHoldsItAndShrinksWithTheScatter) {
  const std::vector<double> before = {10, 10.1, 9.9, 10.2, 9.8},
                            after = {20, 20.2, 19.8, 20.4, 19.6};
  const Interval calm = ratio_interval(before, after, 0.95);
  EXPECT_LT(calm.low, 2);
  EXPECT_GT(calm.high, 2);
  EXPECT_GT(calm.low, 1.9);
  EXPECT_LT(calm.high, 2.1);
  const std::vector<double> wild = {15, 20, 25, 22, 18};
  const Interval wide = ratio_interval(before, wild, 0.95);
  EXPECT_GT(wide.high - wide.low, 3 * (calm.high - calm.low));
  const Interval again = ratio_interval(before, after, 0.95);
  EXPECT_EQ(again.low, calm.low) << "the same lists give the same interval";
  EXPECT_TRUE(std::isnan(ratio_interval({}, after, 0.95).low));
}

TEST(Statistics, AnIntervalNeedsAsManyValuesAsItsConfidenceTakes) {
  const auto has = [](std::size_t before, std::size_t after) {
    const std::vector<double> was(before, 1.0), is(after, 2.0);
    const Interval found = ratio_interval(was, is, 0.95);
    return found.low == 2 && found.high == 2;
  };
  // All of one list above all of the other: 2 of the 20 orders of 3 and 3, of the 70 of 4 and 4.
  EXPECT_FALSE(has(3, 3));
  EXPECT_TRUE(has(4, 4));
  EXPECT_TRUE(has(3, 5));
  EXPECT_FALSE(has(1, 5));
  EXPECT_TRUE(has(5, 5));
  EXPECT_TRUE(has(600, 600)) << "where the normal distribution takes over";
  const std::vector<double> zero = {0, 1, 1, 1, 1};
  EXPECT_TRUE(std::isnan(ratio_interval(zero, zero, 0.95).low)) << "no ratio";
}

TEST(Statistics, AnIntervalIsBoundedByTheRatiosThatTheTestLeaves) {
  // Of the 25 ratios of 5 and 5 the three smallest and the three largest are beyond it.
  const std::vector<double> before = {1, 1.01, 1.02, 1.03, 1.04}, after = {2, 2.2, 2.4, 2.6, 2.8};
  std::vector<double> ratios;
  for (double was : before) {
    for (double is : after) ratios.push_back(is / was);
  }
  std::sort(ratios.begin(), ratios.end());
  const Interval found = ratio_interval(before, after, 0.95);
  EXPECT_EQ(found.low, ratios[2]);
  EXPECT_EQ(found.high, ratios[22]);
}

TEST(Statistics, NothingThatChangedIsOutsideTheIntervalAsRarelyAsItSays) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(0, 0.1);
  for (const std::size_t count : {4u, 5u, 8u, 21u, 60u}) {
    constexpr int tries = 2000;
    int outside = 0;
    for (int i = 0; i < tries; ++i) {
      std::vector<double> before(count), after(count);
      for (double& each : before) each = times(random);
      for (double& each : after) each = times(random);
      const Interval found = ratio_interval(before, after, 0.95);
      outside += found.low > 1 || found.high < 1;
    }
    EXPECT_LE(outside, tries * 6.5 / 100) << count << ": 5 % and three standard deviations";
    EXPECT_GE(outside, tries * 1.5 / 100) << count << ": not wider than it must be";
  }
}

std::vector<double> some_samples() {
  const auto whole =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1000)));
  std::vector<double> out;
  for (int value : whole) out.push_back(value / 8.0);
  return out;
}

RC_GTEST_PROP(Statistics, FiguresAreInOrder, ()) {
  const auto samples = some_samples();
  const Summary s = summarize(samples);
  RC_ASSERT(s.min <= s.q1);
  RC_ASSERT(s.q1 <= s.median);
  RC_ASSERT(s.median <= s.q3);
  RC_ASSERT(s.q3 <= s.max);
  RC_ASSERT(s.min <= s.mean && s.mean <= s.max);
  RC_ASSERT(s.mad >= 0 && s.mad <= s.max - s.min);
}

RC_GTEST_PROP(Statistics, HalfOfTheSamplesLieOnEachSideOfTheMedian, ()) {
  const auto samples = some_samples();
  const double middle = median(samples);
  const auto below =
      std::count_if(samples.begin(), samples.end(), [&](double x) { return x < middle; });
  const auto above =
      std::count_if(samples.begin(), samples.end(), [&](double x) { return x > middle; });
  RC_ASSERT(2 * below <= static_cast<long>(samples.size()));
  RC_ASSERT(2 * above <= static_cast<long>(samples.size()));
}

RC_GTEST_PROP(Statistics, OrderDoesNotMatter, ()) {
  auto samples = some_samples();
  const Summary before = summarize(samples);
  std::sort(samples.begin(), samples.end(), std::greater<>());
  const Summary after = summarize(samples);
  RC_ASSERT(before.median == after.median);
  RC_ASSERT(before.mad == after.mad);
  RC_ASSERT(before.mean == after.mean);
}

RC_GTEST_PROP(Statistics, ScaleWithTheUnit, ()) {
  auto samples = some_samples();
  const Summary before = summarize(samples);
  for (double& x : samples) x *= 4;  // exact
  const Summary after = summarize(samples);
  RC_ASSERT(after.median == 4 * before.median);
  RC_ASSERT(after.mad == 4 * before.mad);
  RC_ASSERT(after.q3 == 4 * before.q3);
}

}  // namespace
}  // namespace tessera::bench
