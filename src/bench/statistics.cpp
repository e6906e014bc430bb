// Robust summaries: see statistics.hpp.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tessera::bench {

namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  // Equal neighbours must give exactly their value; the weighted form might not.
  if (share == 0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] * (1 - share) + sorted[above] * share;
}

/// Above this product of the lists' lengths the normal approximation is accurate enough.
constexpr std::size_t kMostCounted = 2500;

/// The distribution of Mann and Whitney's U: of all ways to choose `few` of `all` positions, the
/// fraction with a given number of pairs (an unchosen position before a chosen one).
std::vector<double> distribution_of_pairs(std::size_t few, std::size_t all) {
  const std::size_t most = few * (all - few);
  // ways[k][u]: k chosen among the positions so far, u pairs
  std::vector<std::vector<double>> ways(few + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (std::size_t place = 1; place <= all; ++place) {
    for (std::size_t k = std::min(few, place); k > 0; --k) {
      for (std::size_t u = place - k; u <= most; ++u) ways[k][u] += ways[k - 1][u - (place - k)];
    }
  }
  double sum = 0;
  for (const double each : ways[few]) sum += each;
  for (double& each : ways[few]) each /= sum;
  return ways[few];
}

/// How many of the smallest ratios, and of the largest, are outside the interval, plus one for its
/// end; 0: there is no interval.
std::size_t pairs_beyond(std::size_t before, std::size_t after, double tail) {
  if (before * after > kMostCounted) {
    const auto n = static_cast<double>(before), m = static_cast<double>(after);
    double low = 0, high = 40;  // in standard deviations; solved by bisection
    while (high - low > 1e-12) {
      const double middle = (low + high) / 2;
      (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
    }
    const double pairs = n * m / 2 - high * std::sqrt(n * m * (n + m + 1) / 12);
    return pairs < 1 ? 0 : static_cast<std::size_t>(pairs);
  }
  std::size_t out = 0;
  double sum = 0;
  for (const double share : distribution_of_pairs(before, before + after)) {
    sum += share;
    if (sum > tail * (1 + 1e-9)) break;
    ++out;
  }
  return out;
}

/// The ratio after / before of this rank (from 1). Both lists ascend.
double ratio_of_rank(const std::vector<double>& before, const std::vector<double>& after,
                     std::size_t rank) {
  const auto at_most = [&](double ratio) {
    std::size_t out = 0, i = 0;
    for (const double was : before) {  // grows with the number of `after` values
      while (i < after.size() && after[i] / was <= ratio) ++i;
      out += i;
    }
    return out;
  };
  double below = 0, found = after.back() / before.front();
  for (;;) {
    const double middle = below + (found - below) / 2;
    if (middle == below || middle == found) return found;
    (at_most(middle) >= rank ? found : below) = middle;
  }
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
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> was(before.begin(), before.end()), is(after.begin(), after.end());
  std::sort(was.begin(), was.end());
  std::sort(is.begin(), is.end());
  const std::size_t beyond = pairs_beyond(was.size(), is.size(), (1 - confidence) / 2);
  if (beyond == 0 || !(was.front() > 0) || !(is.front() > 0)) return {nan, nan};
  const double middle = median(is) / median(was);
  return {std::min(middle, ratio_of_rank(was, is, beyond)),
          std::max(middle, ratio_of_rank(was, is, was.size() * is.size() + 1 - beyond))};
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
  out.mean = std::clamp(out.mean, out.min, out.max);  // rounding must not push it outside
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

}  // namespace tessera::bench
