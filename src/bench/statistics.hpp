// What a handful of timings says: the middle, the spread, the extremes. Medians throughout, because
// a shared machine disturbs a few samples strongly rather than all of them a little. Knows nothing
// of clocks or matrices. Used by the benchmark's report; every function takes samples in any order.
#pragma once

#include <cstddef>
#include <span>

namespace tessera::bench {

/// All values are in the unit of the samples; with no sample every one of them is NaN.
struct Summary {
  std::size_t count = 0;
  double median = 0, mean = 0;
  double stddev = 0;  ///< with count - 1; 0 for a single sample
  double cv = 0;      ///< stddev / mean; 0 where the mean is 0
  double mad = 0;     ///< median distance from the median
  double q1 = 0, q3 = 0;
  double min = 0, max = 0;
};

Summary summarize(std::span<const double> samples);

/// The value below which the share `p` of the samples is, 0 <= p <= 1, interpolated linearly
/// between neighbours. NaN for no samples.
double quantile(std::span<const double> samples, double p);

/// quantile(samples, 0.5)
double median(std::span<const double> samples);

struct Interval {
  double low = 0, high = 0;
};
/// By what factor `after` is larger than `before`, with at least this confidence: between those of
/// the ratios of a value of one list to one of the other that a Mann-Whitney test would not refuse.
/// Exact for any number of values of any one distribution, scaled and drawn independently: where
/// nothing changed, 1 is outside with a chance of at most 1 - confidence. It holds the ratio of
/// the medians, and knows nothing of what differs between two runs. NaN where so few values give no
/// such confidence (0.95 takes 4 and 4), and for values that are not positive.
Interval ratio_interval(std::span<const double> before, std::span<const double> after,
                        double confidence);

}  // namespace tessera::bench
