// A document of plots: see plot.hpp. plot/ draws each.
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/markup.hpp"
#include "plot/drawn.hpp"
#include "plot/svg.hpp"

namespace tessera::bench {

namespace {

constexpr double kCaption = 30;

template <class Plot>
std::string document(const std::vector<Plot>& plots, const std::string& caption) {
  std::string body;
  double top = 0;
  const plot::Looks looks(plots);
  for (const auto& each : plots) {
    body += plot::drawn(each, looks, top);
    top += plot::height_of(each);
  }
  const double height = top + kCaption;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" role=\"img\">\n",
             plot::px(plot::kWidth), plot::px(height)) +
         (plots.empty() ? "" : "<title>" + escaped(plots.front().title) + "</title>\n") +
         plot::style() +
         fmt::format("<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n", plot::px(plot::kWidth),
                     plot::px(height)) +
         body + plot::text_at(20, height - 12, "small", caption) + "</svg>\n";
}

}  // namespace

std::string svg_of(const std::vector<LinePlot>& plots, const std::string& caption) {
  std::vector<LinePlot> drawable = plots;
  for (auto& each : drawable)
    std::erase_if(each.series, [](const PlotSeries& series) { return series.points.empty(); });
  return document(drawable, caption);
}

std::string svg_of(const std::vector<BarPlot>& plots, const std::string& caption) {
  return document(plots, caption);
}

}  // namespace tessera::bench
