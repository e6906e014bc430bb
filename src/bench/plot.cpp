// Drawing: see plot.hpp. All coordinates are pixels of a document kWidth wide; y grows downwards.
// One file: lines, cells and bars share their axes, names and colours.
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/markup.hpp"

namespace tessera::cli {

namespace {

constexpr double kWidth = 900;
constexpr double kLeft = 74, kRight = 190, kBottom = 58;  // around the field of lines
constexpr double kTitle = 24, kKeyLine = 22, kNoteLine = 16, kUnderHead = 22;
constexpr double kCharacter = 6.6;  // of ordinary text, about
constexpr std::size_t kNoteLength = 150;
constexpr double kFieldHeight = 400;
constexpr double kLabelGap = 15;   // between the names at the lines' ends
constexpr double kTiltedGap = 16;  // between the names of cells
constexpr double kBarHeight = 19, kBarGap = 9, kBarLeft = 190, kBarRight = 200;
constexpr double kCaption = 30;
constexpr std::size_t kShades = 8;
// Values that are further apart; bars need less room than curves that cross.
constexpr double kLogarithmic = 15, kLogarithmicBars = 50;

/// At most one digit after the point.
std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

/// A number on an axis: 0.5, 1, 20, 1000.
std::string tick_text(double value) { return fmt::format("{:.6g}", value); }

std::string text_at(double x, double y, const std::string& classes, const std::string& content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", px(x), px(y), classes,
                     escaped(content));
}

std::string line_from(double x1, double y1, double x2, double y2, const std::string& classes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", px(x1),
                     px(y1), px(x2), px(y2), classes);
}

std::string hex_between(std::array<int, 3> from, std::array<int, 3> to, double share) {
  std::string out = "#";
  for (std::size_t i = 0; i < 3; ++i)
    out +=
        fmt::format("{:02x}", static_cast<int>(std::lround(from[i] + (to[i] - from[i]) * share)));
  return out;
}

/// One rule for each shade: the steps of the ladder grow stronger, on either background.
std::string shades(std::array<int, 3> from, std::array<int, 3> to, const char* prefix) {
  std::string out;
  for (std::size_t i = 0; i < kShades; ++i) {
    const auto color = hex_between(from, to, static_cast<double>(i) / (kShades - 1));
    out += fmt::format(".{0}{1}{{stroke:{2};fill:{2}}}\n", prefix, i, color);
  }
  return out;
}

struct PeerHue {
  const char *on_white, *on_black;
};
/// Curves of peers cross: each has a hue, none of them the steps' blue.
constexpr std::array<PeerHue, kShades> kPeerHues = {{{"#d95f02", "#ff9f43"},
                                                     {"#2e8b3d", "#63c174"},
                                                     {"#c2185b", "#ff6b97"},
                                                     {"#8a6d00", "#c9b037"},
                                                     {"#00897b", "#4fd1c5"},
                                                     {"#6d4c41", "#c39b8b"},
                                                     {"#e0a100", "#ffd34d"},
                                                     {"#9c4dcc", "#d7a6f5"}}};

std::string peer_hues(const char* PeerHue::*color) {
  std::string out;
  for (std::size_t i = 0; i < kShades; ++i)
    out += fmt::format(".peer{0}{{stroke:{1};fill:{1}}}\n", i, kPeerHues[i].*color);
  return out;
}

std::string style() {
  std::string out =
      "<style>\n"
      "text{font-family:system-ui,'DejaVu Sans',Arial,sans-serif;font-size:12px;fill:#24292f}\n"
      ".page{fill:#ffffff}\n.title{font-size:15px;font-weight:600}\n.small{font-size:10.5px;"
      "fill:#57606a}\n.tick{fill:#57606a}\n.right{text-anchor:end}\n.middle{text-anchor:middle}\n"
      ".grid{stroke:#d8dee4;stroke-width:1}\n.band{fill:#f3f5f8}\n.axis{stroke:#8c959f;stroke-"
      "width:1}\n"
      ".curve{fill:none !important;stroke-width:2;stroke-linejoin:round}\n"
      ".dashed{stroke-dasharray:7 4}\n.dotted{stroke-dasharray:2 4}\n"
      ".spread{stroke-width:1.2}\n.lead{stroke-width:.8;opacity:.6}\n"
      ".halo{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}\n.bar{"
      "stroke:none !important}\n"
      ".whisker{stroke:#24292f;stroke-width:1.4}\n"
      ".limit{stroke:#6e7781;fill:#6e7781}\n.hollow{fill:none "
      "!important;stroke-width:1.4}\n.thin{stroke-width:1.1}\n";
  out += shades({110, 168, 240}, {10, 48, 140}, "step") + peer_hues(&PeerHue::on_white);
  out +=
      "@media (prefers-color-scheme: dark){\n"
      "text{fill:#e6edf3}\n.page{fill:#0d1117}\n.small,.tick{fill:#9da7b3}\n"
      ".grid{stroke:#262c36}\n.band{fill:#161c25}\n.axis{stroke:#6e7681}\n.whisker{stroke:#e6edf3}"
      "\n"
      ".limit{stroke:#9da7b3;fill:#9da7b3}\n.halo{stroke:#0d1117}\n";
  out += shades({56, 100, 170}, {165, 210, 255}, "step") + peer_hues(&PeerHue::on_black);
  return out + "}\n</style>\n";
}

/// Notes in lines that fit.
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

/// The roles that a plot shows and says something of.
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

/// A patch of the role's colours: as many as its series may have.
std::string swatch(double x, double y, PlotRole role, bool one_hue) {
  std::vector<std::string> classes = {"limit"};
  if (role == PlotRole::step) classes = {"step0", "step3", "step7"};
  if (role == PlotRole::peer) classes = {"peer0", "peer1", "peer2"};
  if (one_hue && role == PlotRole::peer) classes.resize(1);
  std::string out;
  const double width = 21.0 / static_cast<double>(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i)
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"9\" class=\"bar {}\"/>\n",
                       px(x + static_cast<double>(i) * width), px(y), px(width), classes[i]);
  return out;
}

struct Head {
  std::string drawn;
  double height = 0;  ///< the field begins there
};

/// The title, what the colours mean, the notes.
template <class Items>
Head head_of(const std::string& title, const Items& items, const PlotKey& key, bool one_hue,
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
Head head_of(const LinePlot& plot, double top) {
  return head_of(plot.title, plot.series, plot.key, false, plot.notes, top);
}
Head head_of(const BarPlot& plot, double top) {
  return head_of(plot.title, plot.bars, plot.key, true, plot.notes, top);
}

struct Axis {
  double low = 0, high = 1;  ///< values at the ends
  bool logarithmic = false;
  double from = 0, to = 1;  ///< pixels there
  std::vector<double> ticks;

  double at(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + (to - from) * std::clamp(share, 0.0, 1.0);
  }
};

/// 1, 2 or 5 times a power of ten, at least `value`.
double nice_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

Axis linear_axis(double high, double from, double to) {
  Axis out{0, high, false, from, to, {}};
  const double step = nice_step(high / 6);
  for (int i = 0; i * step <= high * (1 + 1e-9); ++i) out.ticks.push_back(i * step);
  return out;
}

Axis log_axis(double low, double high, double from, double to) {
  constexpr double most_between = 1e5;  // with more than powers of ten as ticks
  Axis out{low, high, true, from, to, {}};
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && high / low > most_between) break;
      const double tick = factor * power;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) out.ticks.push_back(tick);
    }
  }
  return out;
}

struct Range {
  double low = HUGE_VAL, high = 0;
  void add(double value) {
    if (!(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Named cells side by side; the names of as many as have room.
Axis cell_axis(const LinePlot& plot) {
  const auto count = static_cast<double>(plot.cells.size());
  Axis out{-0.5, count - 0.5, false, kLeft, kWidth - kRight, {}};
  const double every = std::ceil(kTiltedGap * count / (out.to - out.from));
  for (double cell = 0; cell < count; cell += every) out.ticks.push_back(cell);
  return out;
}

/// The axis for one of many series: in a cell they stand beside one another, so that
/// equal speeds show.
Axis beside(const LinePlot& plot, const Axis& x, std::size_t series) {
  if (plot.cells.empty()) return x;
  const double cell = (x.to - x.from) / static_cast<double>(plot.cells.size());
  const double share =
      (static_cast<double>(series) + 0.5) / static_cast<double>(plot.series.size());
  const double shift = 0.7 * cell * (share - 0.5);
  return {x.low, x.high, x.logarithmic, x.from + shift, x.to + shift, {}};
}

/// The sizes that were measured are the ticks, as far as their texts have room.
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

/// Moves the wanted heights apart so that names do not cover each other; keeps their order.
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

/// How a series looks, apart from its line: lines of one colour are told apart by their marks.
struct Look {
  std::string shade;     ///< "step3", "peer3", "limit"
  std::size_t mark = 0;  ///< its number among the names of its role
};

const std::vector<PlotSeries>& items_of(const LinePlot& plot) { return plot.series; }
const std::vector<PlotBar>& items_of(const BarPlot& plot) { return plot.bars; }

/// A name looks the same in all plots of a document: the steps spread over all shades whatever
/// their number, peers one after the other.
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

  Look of(PlotRole role, const std::string& name) const {
    const auto& names = names_.at(role);
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (role == PlotRole::limit) return {"limit", at};
    if (role == PlotRole::peer) return {fmt::format("peer{}", at % kShades), at};
    const std::size_t last = names.size() - 1;
    return {fmt::format("step{}", last == 0 ? kShades - 1 : at * (kShades - 1) / last), at};
  }

 private:
  std::map<PlotRole, std::vector<std::string>> names_;
};

using Corners = std::vector<std::array<double, 2>>;

/// The corners of the marks around (0,0), of radius about 1; first a circle, which has none.
const std::vector<Corners>& mark_shapes() {
  static const std::vector<Corners> shapes = {
      {},
      {{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}},  // square
      {{0, -1.3}, {1.2, .9}, {-1.2, .9}},            // triangle
      {{0, -1.4}, {1.4, 0}, {0, 1.4}, {-1.4, 0}},    // diamond
      {{0, 1.3}, {1.2, -.9}, {-1.2, -.9}},           // triangle upside down
      {{-.4, -1.3},
       {.4, -1.3},
       {.4, -.4},
       {1.3, -.4},
       {1.3, .4},
       {.4, .4},
       {.4, 1.3},
       {-.4, 1.3},
       {-.4, .4},
       {-1.3, .4},
       {-1.3, -.4},
       {-.4, -.4}}};  // cross
  return shapes;
}

/// Filled for the first series of a role, then hollow, then filled again. Lines with hollow marks
/// are thin, so that what they cover shows on both sides.
bool is_hollow(const Look& look) { return look.mark / mark_shapes().size() % 2 == 1; }

std::string mark_at(double x, double y, double radius, const Look& look) {
  const char* hollow = is_hollow(look) ? " hollow" : "";
  const Corners& corners = mark_shapes()[look.mark % mark_shapes().size()];
  if (corners.empty())
    return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}{}\"/>\n", px(x), px(y),
                       px(radius), look.shade, hollow);
  std::string points;
  for (const auto& [dx, dy] : corners)
    points +=
        fmt::format("{}{},{}", points.empty() ? "" : " ", px(x + radius * dx), px(y + radius * dy));
  return fmt::format("<polygon points=\"{}\" class=\"{}{}\"/>\n", points, look.shade, hollow);
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

/// A name, its mark before it: what covers what.
struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;

  bool holds(double x, double y) const {
    return x >= left && x <= right && y >= top && y <= bottom;
  }
};

/// Points along all curves, a few pixels apart: what a name in the field had better not cover.
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

/// Names of curves that end before the others, each beside its last point, where least is covered,
/// with a thin line to it.
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
          // A point covered is as bad as a long way.
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
/// name beside its last point: from the right the line would look as if it went on. Points over
/// cells have their names from the top.
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

/// Below the field: what the tilted names of the cells need.
double names_height(const LinePlot& plot) {
  std::size_t longest = 0;
  for (const auto& cell : plot.cells) longest = std::max(longest, cell.size());
  return 6.3 * static_cast<double>(longest);
}

/// Too narrow a cell shows nothing of its band.
bool has_bands(const LinePlot& plot, const Axis& x) {
  return !plot.cells.empty() && x.at(1) - x.at(0) >= 6;
}

/// Every other cell on a ground of its own, so that its marks belong to it.
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
double height_of(const BarPlot& plot) {
  return head_of(plot, 0).height + static_cast<double>(plot.bars.size()) * (kBarHeight + kBarGap) +
         kBottom;
}

/// Where the text behind a bar begins: beyond the limit where it would overlap it.
double text_after(const BarPlot& plot, const PlotBar& bar, const Axis& x) {
  const double begin = std::max(x.at(bar.value), x.at(bar.high)) + 7;
  const double end = begin + kCharacter * static_cast<double>(bar.text.size()) + 4;
  const double limit = x.at(plot.limit);
  return plot.limit > 0 && begin < limit + 7 && end > limit ? limit + 7 : begin;
}

/// From 0, unless one long bar would leave nothing of the others and no limit bounds them.
Axis bar_axis(const BarPlot& plot) {
  Range values;
  for (const auto& bar : plot.bars) {
    for (double value : {bar.value, bar.low, bar.high}) values.add(value);
  }
  if (plot.limit == 0 && values.high > kLogarithmicBars * values.low)
    return log_axis(values.low / 2, values.high * 1.25, kBarLeft, kWidth - kBarRight);
  return linear_axis(std::max(plot.limit, values.high), kBarLeft, kWidth - kBarRight);
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

template <class Plot>
std::string document(const std::vector<Plot>& plots, const std::string& caption) {
  std::string body;
  double top = 0;
  const Looks looks(plots);
  for (const auto& plot : plots) {
    body += drawn(plot, looks, top);
    top += height_of(plot);
  }
  const double height = top + kCaption;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" role=\"img\">\n",
             px(kWidth), px(height)) +
         (plots.empty() ? "" : "<title>" + escaped(plots.front().title) + "</title>\n") + style() +
         fmt::format("<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n", px(kWidth),
                     px(height)) +
         body + text_at(20, height - 12, "small", caption) + "</svg>\n";
}

}  // namespace

std::string svg_of(const std::vector<LinePlot>& plots, const std::string& caption) {
  std::vector<LinePlot> drawable = plots;
  for (auto& plot : drawable)
    std::erase_if(plot.series, [](const PlotSeries& series) { return series.points.empty(); });
  return document(drawable, caption);
}

std::string svg_of(const std::vector<BarPlot>& plots, const std::string& caption) {
  return document(plots, caption);
}

}  // namespace tessera::cli
