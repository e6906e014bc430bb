// Supersteps from left to right in the order of the kernel, each as long as its busiest part; three
// bars show how long each part is busy.
#include <algorithm>
#include <tuple>

#include "advice.hpp"
#include "base/markup.hpp"
#include "pictures.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

constexpr double kTimelineWidth = 980, kTimelineLeft = 190, kTimelineRight = 120, kTimelineRow = 52,
                 kTimelineTop = 8, kTimelineBottom = 34;

struct Step {
  std::string name, times;
  double global, shared, multiply;  ///< clocks of one multiprocessor, for one block

  double length() const { return std::max(global + shared, multiply); }
};

std::vector<Step> steps_of(const Report& report, const Explanation& e) {
  const double blocks =
      static_cast<double>(std::max<std::int64_t>(1, report.summary.checked_blocks));
  const auto flops_per_clock = [&](Unit unit) {
    return peak_flops(*e.device, e.dtype, unit) / e.device->sms / e.device->clock_hz;
  };
  const double cores = flops_per_clock(Unit::cores), tensor = flops_per_clock(Unit::tensor_cores);
  std::vector<Step> out;
  for (const SuperstepCounters& s : report.by_superstep) {
    Step step{s.name,
              {},
              data_stage_cycles(s.counters, false, true) / blocks,
              data_stage_cycles(s.counters, true, false) / blocks,
              0};
    if (cores > 0) step.multiply += static_cast<double>(s.counters.flops) / cores / blocks;
    if (tensor > 0) step.multiply += static_cast<double>(s.counters.mma_flops) / tensor / blocks;
    step.times = cat(number_text(static_cast<double>(s.times) / blocks), " times in a block");
    out.push_back(std::move(step));
  }
  return out;
}

}  // namespace

std::string timeline_picture(const Report& report, const Explanation& e) {
  const std::vector<Step> steps = steps_of(report, e);
  double all = 0;
  for (const Step& step : steps) all += step.length();
  if (all == 0) return {};
  const double height =
      kTimelineTop + kTimelineRow * static_cast<double>(steps.size()) + kTimelineBottom;
  const double scale = (kTimelineWidth - kTimelineLeft - kTimelineRight) / all;
  std::string out = cat("<svg class=\"timeline\" width=\"", px(kTimelineWidth), "\" height=\"",
                        px(height), "\" viewBox=\"0 0 ", px(kTimelineWidth), " ", px(height),
                        "\" role=\"img\" aria-label=\"supersteps\">\n");
  double at = 0, y = kTimelineTop;
  for (const Step& step : steps) {
    const double x = kTimelineLeft + at * scale;
    out +=
        cat("<text class=\"name right\" x=\"", px(kTimelineLeft - 12), "\" y=\"", px(y + 20), "\">",
            escaped(step.name), "</text>\n<text class=\"tick right\" x=\"", px(kTimelineLeft - 12),
            "\" y=\"", px(y + 36), "\">", escaped(step.times), "</text>\n");
    double bar = y + 7;
    for (const auto& [clocks, classes, what] :
         {std::tuple(step.global, "global", "global memory through L1"),
          std::tuple(step.shared, "shared", "shared memory"),
          std::tuple(step.multiply, "multiply", "multiply-adds")}) {
      if (clocks > 0)
        out += cat("<rect class=\"", classes, "\" x=\"", px(x), "\" y=\"", px(bar), "\" width=\"",
                   px(std::max(1.5, clocks * scale)), "\" height=\"10\" rx=\"2\"><title>", what,
                   ": ", number_text(clocks), " clocks</title></rect>\n");
      bar += 12;
    }
    at += step.length();
    const double end = kTimelineLeft + at * scale;
    out += cat("<line class=\"barrier\" x1=\"", px(end), "\" y1=\"", px(y), "\" x2=\"", px(end),
               "\" y2=\"", px(height - kTimelineBottom), "\"/>\n<text class=\"tick\" x=\"",
               px(end + 6), "\" y=\"", px(y + 26), "\">", number_text(step.length()),
               " clocks</text>\n");
    y += kTimelineRow;
  }
  return out + cat("<text class=\"tick\" x=\"", px(kTimelineLeft), "\" y=\"", px(height - 10),
                   "\">clocks for which one block keeps a multiprocessor busy, at "
                   "least</text>\n</svg>\n");
}

}  // namespace tessera::check
