// A benchmark's results as a plot: see report.hpp.
#include <algorithm>
#include <cmath>
#include <optional>

#include "plot.hpp"
#include "report.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

using Kind = Contestant::Kind;

PlotRole role_of(Kind kind) {
  return kind == Kind::algorithm ? PlotRole::step
         : kind == Kind::peer    ? PlotRole::peer
                                 : PlotRole::limit;
}

using Extent = index_t Shape::*;
struct CommonSize {
  std::string label;
  std::vector<Extent> extents;  ///< equal in each shape
};

/// The axis of the one extent in which the shapes differ; none if they differ in several.
std::optional<CommonSize> common_size(const std::vector<const BenchRow*>& cases) {
  const std::vector<CommonSize> single = {
      {"M", {&Shape::M}}, {"N", {&Shape::N}}, {"K", {&Shape::K}}, {"batch", {&Shape::batch}}};
  std::vector<CommonSize> axes = {{"M = N = K", {&Shape::M, &Shape::N, &Shape::K}}};
  axes.insert(axes.end(), single.begin(), single.end());
  const Shape& first = cases.front()->on.shape;
  for (CommonSize& axis : axes) {
    const auto fits = [&](const BenchRow* each) {
      Shape shape = first;
      for (const Extent extent : axis.extents) shape.*extent = each->on.shape.*axis.extents[0];
      return shape == each->on.shape;
    };
    if (!std::all_of(cases.begin(), cases.end(), fits)) continue;
    std::vector<std::string> fixed;
    for (const auto& [name, extents] : single) {
      const bool varies = std::count(axis.extents.begin(), axis.extents.end(), extents[0]) > 0;
      if (!varies && (name != "batch" || first.batch > 1))
        fixed.push_back(cat(name, " = ", first.*extents[0]));
    }
    if (const auto turned = transposition_text(first); turned != "NN") fixed.push_back(turned);
    if (first.updates) fixed.push_back("C = C - A B");
    if (!fixed.empty()) axis.label += ", with " + shell::join(fixed);
    return axis;
  }
  return std::nullopt;
}

/// A peer that is always slower than this and alone stretches the axis is named and not drawn: it
/// would compress all other curves.
constexpr double kFarSlower = 8;

/// The largest ratio of a series' speed to the fastest one at the same position.
double nearest_to_best(const LinePlot& plot, const PlotSeries& series) {
  double out = 0;
  for (const auto& point : series.points) {
    double best = 0;
    for (const auto& other : plot.series) {
      for (const auto& each : other.points) {
        if (other.role != PlotRole::limit && each.x == point.x) best = std::max(best, each.y);
      }
    }
    out = std::max(out, point.y / best);
  }
  return out;
}

void leave_out_far_slower(LinePlot& plot) {
  double lowest = HUGE_VAL;  // of those that are always drawn
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    if (series.role == PlotRole::peer && nearest_to_best(plot, series) < 1 / kFarSlower) {
      slow.push_back(i);
      continue;
    }
    for (const auto& point : series.points) lowest = std::min(lowest, point.y);
  }
  std::reverse(slow.begin(), slow.end());
  for (const std::size_t at : slow) {
    const PlotSeries series = plot.series[at];
    double low = HUGE_VAL, high = 0;
    for (const auto& point : series.points)
      low = std::min(low, point.y), high = std::max(high, point.y);
    if (low >= lowest / 2) continue;
    plot.series.erase(plot.series.begin() + static_cast<std::ptrdiff_t>(at));
    plot.notes.push_back(cat("Not drawn: ", series.name, ", at most ", short_number(high),
                             " GFLOP/s; the fastest is always faster by more than a factor of ",
                             kFarSlower, "."));
  }
}

void add_disturbed(std::vector<std::string>& notes, const BenchResults& results,
                   const BenchRow& like) {
  if (const auto where = disturbed_text(results, like); !where.empty()) notes.push_back(where);
}

LinePlot line_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  LinePlot out;
  out.y_label = "GFLOP/s, median and quartiles";
  const auto cases = distinct(group, same_case);
  const auto size = common_size(cases);
  out.title = cat("Speed over ", size ? "size" : "shape", ": ", group_text(group.front().on));
  out.x_label = size ? size->label : "M = N = K, MxNxK or BATCHxMxNxK; T: transposed";
  for (std::size_t i = 0; !size && i < cases.size(); ++i)
    out.cells.push_back(to_string(cases[i]->on.shape));
  for (const auto* contestant : distinct(group, same_contestant)) {
    PlotSeries series{shown_name(*contestant), role_of(contestant->kind), {}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (const auto& row : group) {
        if (!same_contestant(row, *contestant) || !same_case(row, *cases[i]) || !measured(row))
          continue;
        const Figures found = figures(results, row);
        const double work = row.on.flops() * 1e-9;
        const auto x =
            static_cast<double>(size ? row.on.shape.*size->extents[0] : static_cast<index_t>(i));
        series.points.push_back(
            {x, found.gflops, work / found.seconds.q3, work / found.seconds.q1});
      }
    }
    std::sort(series.points.begin(), series.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    if (!series.points.empty()) out.series.push_back(std::move(series));
  }
  const bool lines = out.cells.empty();
  out.key = {
      lines ? "Tessera's algorithms (solid)" : "Tessera's algorithms",
      lines ? "other libraries, one colour each (dashed)" : "other libraries, one colour each",
      lines ? "the peak (dotted)" : "the peak"};
  leave_out_far_slower(out);
  add_disturbed(out.notes, results, group.front());
  return out;
}

bool has_share(const BenchResults& results, const BenchRow& row) {
  return row.kind != Kind::peak && measured(row) && !peak_shares(results, row).empty();
}

struct TimeUnit {
  const char* name;
  double seconds;
};
TimeUnit unit_of(double seconds) {
  return seconds < 1e-6   ? TimeUnit{"ns", 1e-9}
         : seconds < 1e-3 ? TimeUnit{"us", 1e-6}
         : seconds < 1    ? TimeUnit{"ms", 1e-3}
                          : TimeUnit{"s", 1};
}

/// Calls without a share of the peak: after idleness, the first ones, and all if the peak is
/// unknown.
BarPlot time_plot(const std::vector<BenchRow>& group) {
  BarPlot out;
  out.limit = 0;
  double longest = 0;
  for (const auto& row : group) {
    if (measured(row)) longest = std::max(longest, summarize(row.seconds()).median);
  }
  const TimeUnit unit = unit_of(longest);
  out.x_label = cat(unit.name, " a call, median and quartiles; shorter is faster");
  for (const auto& row : group) {
    if (!measured(row) || row.kind == Kind::peak) continue;
    const Summary seconds = summarize(row.seconds());
    out.bars.push_back({row.name, time_text(seconds.median), role_of(row.kind),
                        seconds.median / unit.seconds, seconds.q1 / unit.seconds,
                        seconds.q3 / unit.seconds});
  }
  return out;
}

BarPlot share_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  BarPlot out;
  out.x_label = "% of the measured multiply-add peak";
  out.limit_name = "peak";
  for (const auto& row : group) {
    if (!measured(row) || row.kind == Kind::peak) continue;
    const Figures found = figures(results, row);
    const Summary& percent = found.percent_of_peak;
    const std::string speed = cat(short_number(found.gflops), " GFLOP/s");
    PlotBar bar{row.name, cat("no share, ", speed), role_of(row.kind)};
    if (std::isfinite(percent.median)) {
      bar.text = cat(short_number(percent.median), " %, ", speed);
      bar.value = percent.median, bar.low = percent.q1, bar.high = percent.q3;
    }
    out.bars.push_back(std::move(bar));
  }
  return out;
}

BarPlot ladder_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  const bool shares = std::any_of(group.begin(), group.end(),
                                  [&](const BenchRow& row) { return has_share(results, row); });
  BarPlot out = shares ? share_plot(results, group) : time_plot(group);
  out.title = cat(shares ? "Share of the peak at " : "Time of one call at ",
                  to_string(group.front().on.shape), ": ", group_text(group.front().on));
  out.key = {"Tessera's algorithms", "other libraries", ""};
  add_disturbed(out.notes, results, group.front());
  return out;
}

}  // namespace

std::string to_svg(const BenchResults& results) {
  const auto cases = distinct(
      results.rows, [](const BenchRow& a, const BenchRow& b) { return a.on.shape == b.on.shape; });
  std::vector<LinePlot> lines;
  std::vector<BarPlot> bars;
  for (const auto* first : distinct(results.rows, same_group)) {
    const auto group = group_of(results, *first);
    if (cases.size() == 1) bars.push_back(ladder_plot(results, group));
    else lines.push_back(line_plot(results, group));
  }
  return cases.size() == 1 ? svg_of(bars, machine_line(results))
                           : svg_of(lines, machine_line(results));
}

}  // namespace tessera::bench
