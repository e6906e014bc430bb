// Curves over sizes, and marks over named cells.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "axis.hpp"
#include "base/markup.hpp"
#include "drawn.hpp"
#include "svg.hpp"

namespace tessera::bench::plot {

namespace {

constexpr double kFieldHeight = 400;
constexpr double kLabelGap = 15;     // between the names at the lines' ends
constexpr double kTiltedGap = 16;    // between the names of cells
constexpr double kLogarithmic = 15;  // for values that are wider apart

/// Named cells side by side; names only if there is space.
Axis cell_axis(const LinePlot& plot) {
  const auto count = static_cast<double>(plot.cells.size());
  Axis out{-0.5, count - 0.5, false, kLeft, kWidth - kRight, {}};
  const double every = std::ceil(kTiltedGap * count / (out.to - out.from));
  for (double cell = 0; cell < count; cell += every) out.ticks.push_back(cell);
  return out;
}

/// The axis for one of many series: in a cell they are side by side, so that equal speeds remain
/// visible.
Axis beside(const LinePlot& plot, const Axis& x, std::size_t series) {
  if (plot.cells.empty()) return x;
  const double cell = (x.to - x.from) / static_cast<double>(plot.cells.size());
  const double share =
      (static_cast<double>(series) + 0.5) / static_cast<double>(plot.series.size());
  const double shift = 0.7 * cell * (share - 0.5);
  return {x.low, x.high, x.logarithmic, x.from + shift, x.to + shift, {}};
}

/// The measured sizes are the ticks, if there is space for their texts.
Axis size_axis(const LinePlot& plot, const Range& xs) {
  const double room = xs.low < xs.high ? 1.04 : 2.0;
  Axis out{xs.low / room, xs.high * room, true, kLeft, kWidth - kRight, {}};
  std::vector<double> sizes;
  for (const auto& series : plot.series) {
    for (const auto& point : series.points) sizes.push_back(point.x);
  }
  std::sort(sizes.begin(), sizes.end());
  for (double size : sizes) {
    if (out.ticks.empty() || out.at(size) - out.at(out.ticks.back()) >= 38)
      out.ticks.push_back(size);
  }
  return out;
}

Axis speed_axis(const Range& ys, double top) {
  const double from = top + kFieldHeight, to = top;
  // A ladder spans orders of magnitude; contestants of one kind do not.
  if (ys.high > kLogarithmic * ys.low) return log_axis(ys.low / 1.25, ys.high * 1.25, from, to);
  return linear_axis(ys.high * 1.08, from, to);
}

/// Moves labels apart so that names do not overlap; keeps their order.
std::vector<double> spread_labels(std::vector<double> wanted, double top, double bottom) {
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });
  const double gap = std::min(
      kLabelGap, (bottom - top) / static_cast<double>(std::max<std::size_t>(1, wanted.size())));
  for (int pass = 0; pass < 200; ++pass) {
    for (std::size_t i = 1; i < order.size(); ++i) {
      double &above = wanted[order[i - 1]], &below = wanted[order[i]];
      const double missing = gap - (below - above);
      if (missing <= 0) continue;
      above -= missing / 2;
      below += missing / 2;
    }
    for (double& at : wanted) at = std::clamp(at, top, bottom);
  }
  for (std::size_t i = 1; i < order.size(); ++i)  // what clamping pushed together
    wanted[order[i]] = std::max(wanted[order[i]], wanted[order[i - 1]] + gap);
  const double over = order.empty() ? 0 : wanted[order.back()] - bottom;
  for (double& at : wanted) at -= std::max(0.0, over);
  return wanted;
}

std::string curve(const LinePlot& plot, const PlotSeries& series, const Look& look, const Axis& x,
                  const Axis& y) {
  const std::string& shade = look.shade;
  std::string path, marks;
  for (const auto& point : series.points) {
    const double px_x = x.at(point.x), px_y = y.at(point.y);
    path += fmt::format("{}{} {}", path.empty() ? "M" : " L", px(px_x), px(px_y));
    if (point.high > point.low)
      marks += line_from(px_x, y.at(point.low), px_x, y.at(point.high), "spread " + shade);
    if (series.role != PlotRole::limit || !plot.cells.empty())
      marks += mark_at(px_x, px_y, 3.2, look);
  }
  if (!plot.cells.empty()) return marks;
  const char* dash = series.role == PlotRole::peer    ? " dashed"
                     : series.role == PlotRole::limit ? " dotted"
                                                      : "";
  return fmt::format("<path d=\"{}\" class=\"curve {}{}{}\"/>\n{}", path, shade, dash,
                     is_hollow(look) ? " thin" : "", marks);
}

/// A name with its mark before it, for the overlap test.
struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;

  bool holds(double x, double y) const {
    return x >= left && x <= right && y >= top && y <= bottom;
  }
};

/// Points along all curves, a few pixels apart, which a name should not cover.
std::vector<std::array<double, 2>> points_of_curves(const LinePlot& plot, const Axis& x,
                                                    const Axis& y) {
  constexpr double apart = 4;
  std::vector<std::array<double, 2>> out;
  for (const auto& series : plot.series) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const double to_x = x.at(series.points[i].x), to_y = y.at(series.points[i].y);
      const double from_x = i == 0 ? to_x : x.at(series.points[i - 1].x);
      const double from_y = i == 0 ? to_y : y.at(series.points[i - 1].y);
      const int steps = 1 + static_cast<int>(std::hypot(to_x - from_x, to_y - from_y) / apart);
      for (int step = 1; step <= steps; ++step)
        out.push_back(
            {from_x + (to_x - from_x) * step / steps, from_y + (to_y - from_y) * step / steps});
    }
  }
  return out;
}

/// Names of curves that end before the others, each beside its last point at the least crowded
/// position, with a thin line to it.
class EarlyLabels {
 public:
  EarlyLabels(const LinePlot& plot, const Axis& x, const Axis& y)
      : x_(x), y_(y), covered_(points_of_curves(plot, x, y)) {}

  std::string label(const PlotSeries& series, const Look& look) {
    const double end_x = x_.at(series.points.back().x), end_y = y_.at(series.points.back().y);
    Box best;
    double best_cost = HUGE_VAL;
    for (double away = 14; away <= 120; away += 14) {
      for (double down : {-away, away}) {
        for (double right : {16.0, 40.0, 80.0}) {
          const Box box = box_at(end_x + right, end_y + down, series.name);
          // A covered point costs as much as a long distance.
          const double cost = 30 * covers(box) + away + right / 4;
          if (cost < best_cost && fits(box)) best_cost = cost, best = box;
        }
      }
    }
    for (double at = best.left; at <= best.right; at += 4)
      covered_.push_back({at, (best.top + best.bottom) / 2});
    const double middle = (best.top + best.bottom) / 2;
    return line_from(end_x, end_y, best.left, middle, "lead " + look.shade) +
           mark_at(best.left + 5, middle, 4, look) +
           text_at(best.left + 14, middle + 4, "halo", series.name);
  }

 private:
  static Box box_at(double left, double middle, const std::string& name) {
    return {left, left + 18 + kCharacter * static_cast<double>(name.size()), middle - 8,
            middle + 8};
  }
  bool fits(const Box& box) const {
    return box.right <= kWidth - kRight && box.top >= y_.to && box.bottom <= y_.from;
  }
  int covers(const Box& box) const {
    return static_cast<int>(std::count_if(covered_.begin(), covered_.end(),
                                          [&](const auto& at) { return box.holds(at[0], at[1]); }));
  }

  Axis x_, y_;
  std::vector<std::array<double, 2>> covered_;
};

/// Names at the right ends, each with a thin line to its curve. A curve that ends earlier has its
/// name beside its last point: a line from the right would look like a continuation of the curve.
/// Points over cells have their names from the top.
std::string end_labels(const LinePlot& plot, const std::vector<Look>& looks, const Axis& x,
                       const Axis& y) {
  double last = 0;
  for (const auto& series : plot.series) last = std::max(last, x.at(series.points.back().x));
  std::vector<double> wanted;
  std::vector<std::size_t> right, early;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const auto& end = plot.series[i].points.back();
    const bool ends = plot.cells.empty() && x.at(end.x) < last;
    (ends ? early : right).push_back(i);
    if (!ends)
      wanted.push_back(plot.cells.empty() ? y.at(end.y)
                                          : y.to + static_cast<double>(wanted.size()));
  }
  const auto at = spread_labels(wanted, y.to, y.from);
  std::string out;
  const double label = kWidth - kRight + 22;
  for (std::size_t n = 0; n < right.size(); ++n) {
    const std::size_t i = right[n];
    if (plot.cells.empty())
      out += line_from(last + 5, wanted[n], label, at[n], "lead " + looks[i].shade);
    out += mark_at(label, at[n], 4, looks[i]);
    out += text_at(label + 9, at[n] + 4, "", plot.series[i].name);
  }
  EarlyLabels labels(plot, x, y);
  for (const std::size_t i : early) out += labels.label(plot.series[i], looks[i]);
  return out;
}

/// Space below the plot for the tilted names of the cells.
double names_height(const LinePlot& plot) {
  std::size_t longest = 0;
  for (const auto& cell : plot.cells) longest = std::max(longest, cell.size());
  return 6.3 * static_cast<double>(longest);
}

/// In a narrower cell the band is not visible.
bool has_bands(const LinePlot& plot, const Axis& x) {
  return !plot.cells.empty() && x.at(1) - x.at(0) >= 6;
}

/// A background for every other cell, so that it is clear which marks belong to it.
std::string cell_bands(const LinePlot& plot, const Axis& x, double field) {
  std::string out;
  for (std::size_t cell = 1; cell < plot.cells.size(); cell += 2) {
    const double begin = x.at(static_cast<double>(cell) - 0.5);
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"band\"/>\n",
                       px(begin), px(field), px(x.at(static_cast<double>(cell) + 0.5) - begin),
                       px(kFieldHeight));
  }
  return out;
}

std::string x_tick(const LinePlot& plot, double tick, double x, double y) {
  if (plot.cells.empty()) return text_at(x, y + 18, "tick middle", tick_text(std::round(tick)));
  return fmt::format(
      "<text transform=\"translate({} {}) rotate(-60)\" class=\"tick right\">{}</text>\n",
      px(x + 4), px(y + 14), escaped(plot.cells[static_cast<std::size_t>(tick)]));
}

}  // namespace

std::string drawn(const LinePlot& plot, const Looks& all, double top) {
  Range xs, ys;
  for (const auto& series : plot.series) {
    for (const auto& point : series.points) {
      xs.add(point.x);
      for (double value : {point.low, point.y, point.high}) ys.add(value);
    }
  }
  auto [out, height] = head_of(plot, top);
  const double field = top + height;
  if (ys.high == 0) return out + text_at(kLeft, field + 20, "small", "no verified result");
  const Axis x = plot.cells.empty() ? size_axis(plot, xs) : cell_axis(plot);
  const Axis y = speed_axis(ys, field);
  const bool banded = has_bands(plot, x);
  if (banded) out += cell_bands(plot, x, field);
  for (double tick : y.ticks) {
    out += line_from(kLeft, y.at(tick), kWidth - kRight, y.at(tick), "grid");
    out += text_at(kLeft - 8, y.at(tick) + 4, "tick right", tick_text(tick));
  }
  for (double tick : x.ticks) {
    if (!banded) out += line_from(x.at(tick), field, x.at(tick), field + kFieldHeight, "grid");
    out += x_tick(plot, tick, x.at(tick), field + kFieldHeight);
  }
  out += line_from(kLeft, field + kFieldHeight, kWidth - kRight, field + kFieldHeight, "axis");
  out += text_at((kLeft + kWidth - kRight) / 2, field + kFieldHeight + 40 + names_height(plot),
                 "middle", plot.x_label);
  out +=
      fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" class=\"middle\">{}</text>\n",
                  px(field + kFieldHeight / 2),
                  escaped(plot.y_label + (y.logarithmic ? ", logarithmic" : ", linear")));
  std::vector<Look> looks;
  for (const auto& series : plot.series) {
    looks.push_back(all.of(series.role, series.name));
    out += curve(plot, series, looks.back(), beside(plot, x, looks.size() - 1), y);
  }
  return out + end_labels(plot, looks, x, y);
}

double height_of(const LinePlot& plot) {
  return head_of(plot, 0).height + kFieldHeight + kBottom + names_height(plot);
}

}  // namespace tessera::bench::plot
