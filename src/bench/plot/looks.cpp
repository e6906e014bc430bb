// Colours and marks of series: see looks.hpp.
#include "looks.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "svg.hpp"

namespace tessera::bench::plot {

namespace {

constexpr std::size_t kShades = 8;

std::string hex_between(std::array<int, 3> from, std::array<int, 3> to, double share) {
  std::string out = "#";
  for (std::size_t i = 0; i < 3; ++i)
    out +=
        fmt::format("{:02x}", static_cast<int>(std::lround(from[i] + (to[i] - from[i]) * share)));
  return out;
}

/// One CSS rule for each shade: the steps of the ladder get stronger, on either background.
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
/// Curves of peers cross: each has its own hue, none of them the blue of the steps.
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

}  // namespace

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

Look Looks::of(PlotRole role, const std::string& name) const {
  const auto& names = names_.at(role);
  const auto at =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (role == PlotRole::limit) return {"limit", at};
  if (role == PlotRole::peer) return {fmt::format("peer{}", at % kShades), at};
  const std::size_t last = names.size() - 1;
  return {fmt::format("step{}", last == 0 ? kShades - 1 : at * (kShades - 1) / last), at};
}

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

}  // namespace tessera::bench::plot
