// A benchmark's results as a plot: see bench_report.hpp.
#include <algorithm>
#include <cmath>
#include <optional>

#include "bench_report.hpp"
#include "plot.hpp"
#include "suggest.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

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

/// The axis of the one size in which the shapes differ; none where they differ in more.
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
    if (!fixed.empty()) axis.label += ", with " + join(fixed);
    return axis;
  }
  return std::nullopt;
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
