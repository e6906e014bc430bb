// Stages of a pipeline over time: a row for each gate of bulk copies, a bar for each of its phases,
// from the first copy to the first wait for it, and on to the next phase of the gate.
#include <algorithm>
#include <map>

#include "base/markup.hpp"
#include "pictures.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

constexpr double kStagesWidth = 980, kStagesLeft = 130, kStagesRow = 22, kStagesTop = 8,
                 kStagesBottom = 26;
constexpr std::size_t kMostShown = 64;  // phases: the first ones of a longer run

struct StageBar {
  double y, from, to;
  const char* classes;
  std::string title;
};

std::string drawn(const StageBar& bar) {
  return cat("<rect class=\"", bar.classes, "\" x=\"", px(bar.from), "\" y=\"", px(bar.y),
             "\" width=\"", px(std::max(1.5, bar.to - bar.from)),
             "\" height=\"12\" rx=\"2\"><title>", bar.title, "</title></rect>\n");
}

}  // namespace

int most_in_flight(const std::vector<GatePhase>& phases) {
  int most = 0;
  for (const GatePhase& at : phases) {
    const auto is_in_flight = [&](const GatePhase& each) {
      return each.started <= at.started && (each.awaited == 0 || each.awaited > at.started);
    };
    most =
        std::max(most, static_cast<int>(std::count_if(phases.begin(), phases.end(), is_in_flight)));
  }
  return most;
}

std::string stages_picture(const Report& report) {
  const std::vector<GatePhase>& all = report.gate_phases;
  if (all.empty()) return {};
  const std::vector<GatePhase> phases(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostShown)));
  std::map<int, int> row_of;
  std::int64_t end = 1;
  for (const GatePhase& each : phases) {
    row_of.try_emplace(each.gate, static_cast<int>(row_of.size()));
    end = std::max({end, each.started + 1, each.awaited + 1});
  }
  const double height =
      kStagesTop + kStagesRow * static_cast<double>(row_of.size()) + kStagesBottom;
  const auto x_of = [&](std::int64_t time) {
    return kStagesLeft +
           (kStagesWidth - kStagesLeft) * static_cast<double>(time) / static_cast<double>(end);
  };
  const auto name_of = [&](int gate) {
    const auto i = static_cast<std::size_t>(gate);
    return i < report.gates.size() ? report.gates[i].name : cat("gate ", gate);
  };
  std::string out = cat("<svg class=\"timeline\" width=\"", px(kStagesWidth), "\" height=\"",
                        px(height), "\" viewBox=\"0 0 ", px(kStagesWidth), " ", px(height),
                        "\" role=\"img\" aria-label=\"stages in flight\">\n");
  for (const auto& [gate, row] : row_of)
    out += cat("<text class=\"name right\" x=\"", px(kStagesLeft - 12), "\" y=\"",
               px(kStagesTop + kStagesRow * row + 14), "\">", escaped(name_of(gate)), "</text>\n");
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const GatePhase& each = phases[i];
    const auto next =
        std::find_if(phases.begin() + static_cast<std::ptrdiff_t>(i) + 1, phases.end(),
                     [&](const GatePhase& other) { return other.gate == each.gate; });
    const double y = kStagesTop + kStagesRow * row_of[each.gate] + 4;
    const std::int64_t there = each.awaited == 0 ? end : each.awaited;
    const std::string what = cat("phase ", each.phase, ", ", each.bytes, " bytes");
    out += drawn({y, x_of(each.started), x_of(there), "global", cat(what, ": in flight")});
    if (each.awaited != 0)
      out += drawn({y, x_of(there), x_of(next == phases.end() ? end : next->started), "multiply",
                    cat(what, ": in use or free")});
  }
  return out + cat("<text class=\"tick\" x=\"", px(kStagesLeft), "\" y=\"", px(height - 8),
                   "\">copies, waits and products of the first block that was checked, in their "
                   "order",
                   all.size() > kMostShown ? cat("; the first ", kMostShown, " phases") : "",
                   "</text>\n</svg>\n");
}

}  // namespace tessera::check
