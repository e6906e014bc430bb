// Summaries of a few timings: the middle, the spread, the extremes. Medians throughout, because a
// shared machine disturbs a few samples strongly rather than all of them a little. Independent of
// clocks and matrices; every function accepts samples in any order.
#pragma once

#include <cstddef>
#include <span>

namespace tessera::bench {

/// All values are in the unit of the samples; without samples every one of them is NaN.
struct Summary {
  std::size_t count = 0;
  double median = 0, mean = 0;
  double stddev = 0;  ///< with count - 1; 0 for a single sample
  double cv = 0;      ///< stddev / mean; 0 if the mean is 0
  double mad = 0;     ///< median distance from the median
  double q1 = 0, q3 = 0;
  double min = 0, max = 0;
};

Summary summarize(std::span<const double> samples);

/// The value below which the share `p` of the samples is, 0 <= p <= 1, interpolated linearly
/// between neighbours. NaN without samples.
double quantile(std::span<const double> samples, double p);

/// quantile(samples, 0.5)
double median(std::span<const double> samples);

struct Interval {
  double low = 0, high = 0;
};
/// The factor by which `after` is larger than `before`, as an interval with at least this
/// confidence: the ratios between a value of each list that a Mann-Whitney test does not reject.
/// Exact for any number of values of any one distribution, scaled and drawn independently: if
/// nothing changed, 1 is outside with a probability of at most 1 - confidence. It contains the
/// ratio of the medians, but does not cover differences between two runs. NaN if there are too few
/// values for this confidence (0.95 needs 4 and 4), and for values that are not positive.
Interval ratio_interval(std::span<const double> before, std::span<const double> after,
                        double confidence);

}  // namespace tessera::bench
