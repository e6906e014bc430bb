// A benchmark's results as a plot: see bench_report.hpp.
#include <algorithm>
#include <cmath>

#include "bench_report.hpp"
#include "plot.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

using Kind = Contestant::Kind;

PlotRole role_of(Kind kind) {
  return kind == Kind::algorithm ? PlotRole::step
         : kind == Kind::peer    ? PlotRole::peer
                                 : PlotRole::limit;
}

bool is_cube(const Shape& shape) {
  return shape.M == shape.N && shape.N == shape.K && shape.batch == 1;
}

double side_of(const Shape& shape) {
  if (is_cube(shape)) return static_cast<double>(shape.M);
  return std::cbrt(static_cast<double>(shape.M) * static_cast<double>(shape.N) *
                   static_cast<double>(shape.K) * static_cast<double>(shape.batch));
}

LinePlot line_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  LinePlot out;
  out.title = "Speed over size: " + group_text(group.front().on);
  out.y_label = "GFLOP/s, median and quartiles";
  const bool cubes = std::all_of(group.begin(), group.end(),
                                 [](const BenchRow& row) { return is_cube(row.on.shape); });
  out.x_label = cubes ? "M = N = K" : "side of the cube with as many products, (M N K)^(1/3)";
  for (const auto* contestant : distinct(group, same_contestant)) {
    PlotSeries series{shown_name(*contestant), role_of(contestant->kind), {}};
    for (const auto& row : group) {
      if (!same_contestant(row, *contestant) || !measured(row)) continue;
      const Figures found = figures(results, row);
      const double work = row.on.flops() * 1e-9;
      series.points.push_back(
          {side_of(row.on.shape), found.gflops, work / found.seconds.q3, work / found.seconds.q1});
    }
    std::sort(series.points.begin(), series.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    if (!series.points.empty()) out.series.push_back(std::move(series));
  }
  return out;
}

BarPlot ladder_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  BarPlot out;
  out.title =
      cat("The ladder at ", to_string(group.front().on.shape), ": ", group_text(group.front().on));
  out.x_label = "% of the measured multiply-add peak";
  out.limit_name = "peak";
  for (const auto& row : group) {
    if (!measured(row) || row.kind == Kind::peak) continue;
    const Figures found = figures(results, row);
    const Summary& percent = found.percent_of_peak;
    if (!std::isfinite(percent.median)) continue;
    out.bars.push_back(
        {row.name,
         cat(short_number(percent.median), " %, ", short_number(found.gflops), " GFLOP/s"),
         role_of(row.kind), percent.median, percent.q1, percent.q3});
  }
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

}  // namespace tessera::cli
