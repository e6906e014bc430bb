// Bars in groups, with their values as text.
#include <fmt/format.h>

#include <algorithm>

#include "axis.hpp"
#include "drawn.hpp"
#include "svg.hpp"

namespace tessera::bench::plot {

namespace {

constexpr double kBarHeight = 19, kBarGap = 9, kBarLeft = 190, kBarRight = 200;
// Of values that are wider apart; bars need less space than crossing curves.
constexpr double kLogarithmicBars = 50;

/// The start of the text after a bar: beyond the limit if it would overlap it.
double text_after(const BarPlot& plot, const PlotBar& bar, const Axis& x) {
  const double begin = std::max(x.at(bar.value), x.at(bar.high)) + 7;
  const double end = begin + kCharacter * static_cast<double>(bar.text.size()) + 4;
  const double limit = x.at(plot.limit);
  return plot.limit > 0 && begin < limit + 7 && end > limit ? limit + 7 : begin;
}

/// From 0, unless one long bar would hide all others and no limit bounds them.
Axis bar_axis(const BarPlot& plot) {
  Range values;
  for (const auto& bar : plot.bars) {
    for (double value : {bar.value, bar.low, bar.high}) values.add(value);
  }
  if (plot.limit == 0 && values.high > kLogarithmicBars * values.low)
    return log_axis(values.low / 2, values.high * 1.25, kBarLeft, kWidth - kBarRight);
  return linear_axis(std::max(plot.limit, values.high), kBarLeft, kWidth - kBarRight);
}

}  // namespace

double height_of(const BarPlot& plot) {
  return head_of(plot, 0).height + static_cast<double>(plot.bars.size()) * (kBarHeight + kBarGap) +
         kBottom;
}

std::string drawn(const BarPlot& plot, const Looks& all, double top) {
  auto [out, height] = head_of(plot, top);
  const double field = top + height;
  if (plot.bars.empty()) return out + text_at(kLeft, field + 20, "small", "no verified result");
  const double bottom = field + static_cast<double>(plot.bars.size()) * (kBarHeight + kBarGap);
  const Axis x = bar_axis(plot);
  for (double tick : x.ticks) {
    out += line_from(x.at(tick), field - 4, x.at(tick), bottom, "grid");
    out += text_at(x.at(tick), bottom + 16, "tick middle", tick_text(tick));
  }
  if (plot.limit > 0) {
    out += line_from(x.at(plot.limit), field - 4, x.at(plot.limit), bottom, "limit dotted");
    out += text_at(x.at(plot.limit), field - 9, "small middle", plot.limit_name);
  }
  double y = field + kBarGap / 2;
  for (const auto& bar : plot.bars) {
    const double end = x.at(bar.value), middle = y + kBarHeight / 2;
    out += text_at(kBarLeft - 8, middle + 4, "right", bar.name);
    const std::string color =
        bar.role == PlotRole::peer ? "peer0" : all.of(bar.role, bar.name).shade;
    if (bar.value > 0)
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" class=\"bar {}\"/>\n",
          px(kBarLeft), px(y), px(std::max(1.0, end - kBarLeft)), px(kBarHeight), color);
    if (bar.high > bar.low)
      out += line_from(x.at(bar.low), middle, x.at(bar.high), middle, "whisker");
    out += text_at(text_after(plot, bar, x), middle + 4, "halo", bar.text);
    y += kBarHeight + kBarGap;
  }
  out += line_from(kBarLeft, field - 4, kBarLeft, bottom, "axis");
  return out + text_at((kBarLeft + kWidth - kBarRight) / 2, bottom + 38, "middle",
                       plot.x_label + (x.logarithmic ? "; logarithmic" : ""));
}

}  // namespace tessera::bench::plot
