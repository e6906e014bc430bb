// Plots as SVG documents, readable on white and on black: lines over a logarithmic size axis with
// error bars and names at the lines' ends, points over named cells, and bars with their values.
// Independent of what is plotted. Text is escaped; every number must be finite.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tessera::bench {

/// How a curve or bar is drawn: steps of the ladder share one hue that darkens; peers are dashed,
/// each curve in its own hue and all bars in one; the limit is grey.
enum class PlotRole { step, peer, limit };
/// The meaning of the colours, role by role; "" omits a role.
using PlotKey = std::array<std::string, 3>;

struct PlotPoint {
  double x = 0, y = 0, low = 0, high = 0;  ///< low <= y <= high: the spread
};

struct PlotSeries {
  std::string name;
  PlotRole role = PlotRole::step;
  std::vector<PlotPoint> points;  ///< x ascending
};

struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  /// For a plot without a size axis: names side by side. x is the index of a name, from 0, and no
  /// line joins the points.
  std::vector<std::string> cells = {};
  PlotKey key = {};
  std::vector<std::string> notes = {};  ///< lines of small print under the title
};

struct PlotBar {
  std::string name, text;  ///< text follows the bar
  PlotRole role = PlotRole::step;
  double value = 0, low = 0, high = 0;  ///< a value of 0: no bar, only the text
};

struct BarPlot {
  std::string title, x_label;
  double limit = 100;  ///< a line with a name is drawn there; 0: none
  std::string limit_name;
  std::vector<PlotBar> bars;
  PlotKey key = {};
  std::vector<std::string> notes = {};
};

/// One document, the plots one below the other; `caption` is a line of small print at the bottom.
std::string svg_of(const std::vector<LinePlot>& plots, const std::string& caption);
std::string svg_of(const std::vector<BarPlot>& plots, const std::string& caption);

}  // namespace tessera::bench
