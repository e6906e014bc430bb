// The axes of a plot, linear and logarithmic, and their ticks.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tessera::bench::plot {

struct Axis {
  double low = 0, high = 1;  ///< values at the ends
  bool logarithmic = false;
  double from = 0, to = 1;  ///< pixels there
  std::vector<double> ticks;

  double at(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + (to - from) * std::clamp(share, 0.0, 1.0);
  }
};

Axis linear_axis(double high, double from, double to);
Axis log_axis(double low, double high, double from, double to);

struct Range {
  double low = HUGE_VAL, high = 0;
  void add(double value) {
    if (!(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// A number on an axis: 0.5, 1, 20, 1000.
std::string tick_text(double value);

}  // namespace tessera::bench::plot
