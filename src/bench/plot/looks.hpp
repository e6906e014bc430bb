// The appearance of series and bars: shades of the ladder's steps, hues of the peers, marks.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "bench/plot.hpp"

namespace tessera::bench::plot {

/// The style sheet of a document, for white and for black backgrounds.
std::string style();

/// A patch of the role's colours: as many as its series may have.
std::string swatch(double x, double y, PlotRole role, bool one_hue);

/// The appearance of a series, besides its line: marks distinguish lines of one colour.
struct Look {
  std::string shade;     ///< "step3", "peer3", "limit"
  std::size_t mark = 0;  ///< its number among the names of its role
};

inline const std::vector<PlotSeries>& items_of(const LinePlot& plot) { return plot.series; }
inline const std::vector<PlotBar>& items_of(const BarPlot& plot) { return plot.bars; }

/// A name looks the same in all plots of a document: the steps spread over all shades whatever
/// their number; peers use one hue after the other.
class Looks {
 public:
  template <class Plots>
  explicit Looks(const Plots& plots) {
    for (const auto& plot : plots) {
      for (const auto& item : items_of(plot)) {
        auto& names = names_[item.role];
        if (std::find(names.begin(), names.end(), item.name) == names.end())
          names.push_back(item.name);
      }
    }
  }

  Look of(PlotRole role, const std::string& name) const;

 private:
  std::map<PlotRole, std::vector<std::string>> names_;
};

/// Filled for the first series of a role, then hollow, then filled again. Lines with hollow marks
/// are thin, so that curves below them remain visible.
bool is_hollow(const Look& look);
std::string mark_at(double x, double y, double radius, const Look& look);

}  // namespace tessera::bench::plot
