// The axes of a plot: see axis.hpp.
#include "axis.hpp"

#include <fmt/format.h>

namespace tessera::bench::plot {

namespace {

/// 1, 2 or 5 times a power of ten, at least `value`.
double nice_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string tick_text(double value) { return fmt::format("{:.6g}", value); }

Axis linear_axis(double high, double from, double to) {
  Axis out{0, high, false, from, to, {}};
  const double step = nice_step(high / 6);
  for (int i = 0; i * step <= high * (1 + 1e-9); ++i) out.ticks.push_back(i * step);
  return out;
}

Axis log_axis(double low, double high, double from, double to) {
  constexpr double most_between = 1e5;  // if wider, only powers of ten are ticks
  Axis out{low, high, true, from, to, {}};
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && high / low > most_between) break;
      const double tick = factor * power;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) out.ticks.push_back(tick);
    }
  }
  return out;
}

}  // namespace tessera::bench::plot
