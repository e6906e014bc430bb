// The parts of a document: one plot below the other.
#pragma once

#include <string>

#include "looks.hpp"

namespace tessera::bench::plot {

struct Head {
  std::string drawn;
  double height = 0;  ///< the field begins there
};

/// The title, what the colours mean, the notes.
Head head_of(const LinePlot& plot, double top);
Head head_of(const BarPlot& plot, double top);

/// A plot from `top` downwards.
std::string drawn(const LinePlot& plot, const Looks& all, double top);
std::string drawn(const BarPlot& plot, const Looks& all, double top);

double height_of(const LinePlot& plot);
double height_of(const BarPlot& plot);

}  // namespace tessera::bench::plot
