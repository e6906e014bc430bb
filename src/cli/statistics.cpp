// Robust summaries: see statistics.hpp.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tessera::cli {

namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  // Equal neighbours give exactly their value; the weighted form might not.
  if (share == 0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] * (1 - share) + sorted[above] * share;
}

constexpr int kDraws = 2000;

/// The median of as many values as there are, each drawn from all of them.
double median_of_draw(std::span<const double> samples, std::mt19937_64& random,
                      std::vector<double>& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < samples.size(); ++i)
    scratch.push_back(samples[random() % samples.size()]);
  return median(scratch);
}

}  // namespace

double quantile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, std::clamp(p, 0.0, 1.0));
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

Interval ratio_interval(std::span<const double> before, std::span<const double> after,
                        double confidence) {
  if (before.empty() || after.empty()) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  std::mt19937_64 random(1);
  std::vector<double> ratios, scratch;
  for (int i = 0; i < kDraws; ++i) {
    const double was = median_of_draw(before, random, scratch);
    ratios.push_back(median_of_draw(after, random, scratch) / was);
  }
  const double tail = (1 - confidence) / 2;
  return {quantile(ratios, tail), quantile(ratios, 1 - tail)};
}

Summary summarize(std::span<const double> samples) {
  if (samples.empty()) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {0, nan, nan, nan, nan, nan, nan, nan, nan, nan};
  }
  Summary out;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  out.count = sorted.size();
  out.min = sorted.front();
  out.max = sorted.back();
  out.median = quantile_of_sorted(sorted, 0.5);
  out.q1 = quantile_of_sorted(sorted, 0.25);
  out.q3 = quantile_of_sorted(sorted, 0.75);
  for (double x : sorted) out.mean += x / count;
  out.mean = std::clamp(out.mean, out.min, out.max);  // rounding may not push it outside
  double squares = 0;
  std::vector<double> distances;
  for (double x : sorted) {
    squares += (x - out.mean) * (x - out.mean);
    distances.push_back(std::abs(x - out.median));
  }
  if (sorted.size() > 1) out.stddev = std::sqrt(squares / (count - 1));
  if (out.mean != 0) out.cv = out.stddev / out.mean;
  out.mad = median(distances);
  return out;
}

}  // namespace tessera::cli
