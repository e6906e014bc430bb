// The roofline on two logarithmic axes. A kernel is a band from the intensity without any cache to
// the compulsory one, and at each end the upper bound by its busiest resource.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/markup.hpp"
#include "pictures.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

constexpr double kWidth = 760, kHeight = 380, kLeft = 92, kRight = 24, kTop = 18, kBottom = 52;

/// Powers of ten from one pixel to another.
struct LogAxis {
  double low, high, from, to;
  double at(double value) const {
    return from + (to - from) * std::log(std::clamp(value, low, high) / low) / std::log(high / low);
  }
};

std::string text(double x, double y, const char* classes, const std::string& content) {
  return cat("<text class=\"", classes, "\" x=\"", px(x), "\" y=\"", px(y), "\">", escaped(content),
             "</text>\n");
}

std::string line(double x1, double y1, double x2, double y2, const std::string& classes) {
  return cat("<line class=\"", classes, "\" x1=\"", px(x1), "\" y1=\"", px(y1), "\" x2=\"", px(x2),
             "\" y2=\"", px(y2), "\"/>\n");
}

double power_below(double value) { return std::pow(10.0, std::floor(std::log10(value))); }
double power_above(double value) { return std::pow(10.0, std::ceil(std::log10(value))); }

/// Operations per second if the busiest resource is never idle.
double reached(const Explanation& e, std::size_t resource, double ResourceTime::*time) {
  const double us = e.resources[resource].*time;
  return us > 0 ? e.traffic.flops / us * 1e6 : 0;
}

bool drawable(const Explanation& e) {
  return e.traffic.flops > 0 && e.peak_flops > 0 && e.roofline.dram_low > 0 &&
         std::isfinite(e.roofline.dram_high);
}

/// Separates the names of two marks vertically.
enum class NameSide { above, below };

std::string mark(const RooflineMark& m, std::size_t number, NameSide side, const LogAxis& x,
                 const LogAxis& y) {
  const Explanation& e = *m.explanation;
  const double low = x.at(e.roofline.dram_low), high = x.at(e.roofline.dram_high);
  const double uncached = y.at(reached(e, e.busiest_uncached, &ResourceTime::most_us)),
               cached = y.at(reached(e, e.busiest, &ResourceTime::least_us));
  const std::string colour = cat("kernel", number);
  std::string out =
      cat("<rect class=\"band ", colour, "\" x=\"", px(low), "\" y=\"", px(kTop), "\" width=\"",
          px(std::max(1.0, high - low)), "\" height=\"", px(kHeight - kBottom - kTop), "\"/>\n");
  out += line(low, uncached, high, cached, "lead " + colour);
  for (const auto& [at_x, at_y, what] : {std::tuple(low, uncached, "no cache helps"),
                                         std::tuple(high, cached, "each byte is loaded once")})
    out += cat("<circle class=\"", colour, "\" cx=\"", px(at_x), "\" cy=\"", px(at_y),
               "\" r=\"5\"><title>", escaped(m.name), ": ", what, "</title></circle>\n");
  const bool left = high > kWidth - 200;
  out += text(left ? high - 9 : high + 9, side == NameSide::above ? cached - 9 : cached + 19,
              left ? "name right" : "name", m.name);
  return out;
}

/// The drawing area; peak 0: nothing can be drawn.
struct Field {
  double peak;
  LogAxis x, y;
};

Field field_of(const std::vector<RooflineMark>& marks) {
  double peak = 0, least = std::numeric_limits<double>::infinity(), low = least, high = 0;
  for (const RooflineMark& m : marks) {
    if (!drawable(*m.explanation)) continue;
    const Roofline& r = m.explanation->roofline;
    low = std::min(low, r.dram_low);
    high = std::max({high, r.dram_high, r.ridge});
    peak = std::max(peak, m.explanation->peak_flops);
    least = std::min(
        least, reached(*m.explanation, m.explanation->busiest_uncached, &ResourceTime::most_us));
  }
  if (peak == 0) return {};
  return {peak,
          {power_below(low / 1.5), power_above(high * 1.5), kLeft, kWidth - kRight},
          {power_below(least / 1.5), power_above(peak * 1.2), kHeight - kBottom, kTop}};
}

std::string axes(const LogAxis& x, const LogAxis& y) {
  std::string out;
  for (double tick = x.low; tick <= x.high * 1.001; tick *= 10) {
    out += line(x.at(tick), kTop, x.at(tick), kHeight - kBottom, "grid");
    out += text(x.at(tick), kHeight - kBottom + 18, "tick middle", cat(tick));
  }
  for (double tick = y.low; tick <= y.high * 1.001; tick *= 10) {
    out += line(kLeft, y.at(tick), kWidth - kRight, y.at(tick), "grid");
    out += text(kLeft - 8, y.at(tick) + 4, "tick right", si_text(tick) + "flop/s");
  }
  return out + text((kLeft + kWidth - kRight) / 2, kHeight - 10, "tick middle",
                    "intensity: flop for each byte of DRAM");
}

/// Bandwidth up to the ridge, peak after it. The slope leaves the area at the bottom or at the
/// left, whichever comes first.
std::string roof(const Explanation& e, const LogAxis& x, const LogAxis& y, bool with_names) {
  const double ridge = e.roofline.ridge, bandwidth = e.device->dram_bytes_per_s;
  const double foot = std::max(x.low, y.low / bandwidth);
  std::string out =
      line(x.at(foot), y.at(foot * bandwidth), x.at(ridge), y.at(e.peak_flops), "roof") +
      line(x.at(ridge), y.at(e.peak_flops), x.at(x.high), y.at(e.peak_flops), "roof");
  if (!with_names) return out;
  const double middle = std::sqrt(foot * ridge);
  return out +
         text(kWidth - kRight - 4, y.at(e.peak_flops) - 6, "tick right",
              cat(si_text(e.peak_flops), "flop/s, ", name(e.dtype),
                  e.on_tensor_cores ? " on tensor cores" : "")) +
         text(x.at(middle) - 8, y.at(middle * bandwidth) - 6, "tick right",
              si_text(bandwidth) + "B/s");
}

/// Is another mark above mark `i`? The first of two at one height is above.
bool is_lower(const std::vector<RooflineMark>& marks, std::size_t i) {
  const auto height = [&](std::size_t at) {
    const Explanation& e = *marks[at].explanation;
    return reached(e, e.busiest, &ResourceTime::least_us);
  };
  for (std::size_t other = 0; other < marks.size(); ++other)
    if (height(other) > height(i) || (height(other) == height(i) && other < i)) return true;
  return false;
}

}  // namespace

std::string roofline_picture(const std::vector<RooflineMark>& marks) {
  const auto [peak, x, y] = field_of(marks);
  if (peak == 0) return {};
  std::string out = cat("<svg class=\"roofline\" width=\"", px(kWidth), "\" height=\"", px(kHeight),
                        "\" viewBox=\"0 0 ", px(kWidth), " ", px(kHeight),
                        "\" role=\"img\" aria-label=\"roofline\">\n", axes(x, y));
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!drawable(*marks[i].explanation)) continue;
    out += roof(*marks[i].explanation, x, y, i == 0);
    out += mark(marks[i], i, is_lower(marks, i) ? NameSide::below : NameSide::above, x, y);
  }
  return out + "</svg>\n";
}

}  // namespace tessera::check
