// The head of a plot: its title, notes and key.
#include <algorithm>
#include <string>
#include <vector>

#include "drawn.hpp"
#include "svg.hpp"

namespace tessera::bench::plot {

namespace {

constexpr double kTitle = 24, kKeyLine = 22, kNoteLine = 16, kUnderHead = 22;
constexpr std::size_t kNoteLength = 150;

/// Notes, wrapped.
std::vector<std::string> wrapped(const std::vector<std::string>& notes) {
  std::vector<std::string> out;
  for (std::string rest : notes) {
    while (rest.size() > kNoteLength) {
      const std::size_t blank = rest.rfind(' ', kNoteLength);
      if (blank == std::string::npos || blank == 0) break;
      out.push_back(rest.substr(0, blank));
      rest.erase(0, blank + 1);
    }
    out.push_back(rest);
  }
  return out;
}

/// The roles that a plot shows and explains.
template <class Items>
std::vector<PlotRole> shown_roles(const Items& items, const PlotKey& key) {
  std::vector<PlotRole> out;
  for (const PlotRole role : {PlotRole::step, PlotRole::peer, PlotRole::limit}) {
    const bool there = std::any_of(items.begin(), items.end(),
                                   [role](const auto& each) { return each.role == role; });
    if (there && !key[static_cast<std::size_t>(role)].empty()) out.push_back(role);
  }
  return out;
}

template <class Items>
Head head_from(const std::string& title, const Items& items, const PlotKey& key, bool one_hue,
               const std::vector<std::string>& notes, double top) {
  Head out{text_at(20, top + kTitle, "title", title), kTitle};
  if (const auto roles = shown_roles(items, key); !roles.empty()) {
    out.height += kKeyLine;
    double x = 20;
    for (const PlotRole role : roles) {
      const std::string& name = key[static_cast<std::size_t>(role)];
      out.drawn += swatch(x, top + out.height - 9, role, one_hue);
      out.drawn += text_at(x + 27, top + out.height, "small", name);
      x += 27 + kCharacter * static_cast<double>(name.size()) + 18;
    }
  }
  for (const auto& note : wrapped(notes)) {
    out.height += kNoteLine;
    out.drawn += text_at(20, top + out.height, "small", note);
  }
  out.height += kUnderHead;
  return out;
}

}  // namespace

Head head_of(const LinePlot& plot, double top) {
  return head_from(plot.title, plot.series, plot.key, false, plot.notes, top);
}
Head head_of(const BarPlot& plot, double top) {
  return head_from(plot.title, plot.bars, plot.key, true, plot.notes, top);
}

}  // namespace tessera::bench::plot
