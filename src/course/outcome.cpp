// JSON to values: see outcome.hpp.
#include "outcome.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

using nlohmann::json;

double number(const json& value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return value.get<double>();
  return value == "inf" ? infinity : value == "-inf" ? -infinity : std::nan("");
}

std::vector<double> numbers(const json& values) {
  std::vector<double> out;
  for (const auto& each : values) out.push_back(number(each));
  return out;
}

void read_place(const json& place, std::string& file, int& line) {
  if (!place.is_object()) return;
  file = place.at("file").get<std::string>();
  line = place.at("line").get<int>();
}

PuzzleFinding finding_of(const json& f) {
  PuzzleFinding out{f.at("kind"),
                    f.at("severity"),
                    f.at("memory"),
                    f.at("tensor"),
                    f.at("problem"),
                    f.at("hint"),
                    f.at("superstep"),
                    f.at("element"),
                    {},
                    {},
                    0,
                    0,
                    f.at("count"),
                    {},
                    {},
                    f.at("other_block").is_array(),
                    {},
                    false,
                    false};
  if (!f.at("threads").empty()) out.thread = f.at("threads").at(0);
  if (f.at("block").is_array()) out.block = f.at("block");
  read_place(f.at("location"), out.file, out.line);
  read_place(f.at("other"), out.other_file, out.other_line);
  return out;
}

PuzzleMatrix matrix_from(const json& m) {
  PuzzleMatrix out{m.at("name"),
                   m.at("looks_like"),
                   m.at("sentence"),
                   m.at("advice"),
                   m.at("rows"),
                   m.at("cols"),
                   m.at("wrong"),
                   m.at("tolerance"),
                   {},
                   {},
                   {}};
  if (m.contains("sum")) {
    const json& sum = m.at("sum");
    out.sum = {sum.at("begin"), sum.at("end"), sum.at("K"), sum.at("tile")};
  }
  out.got = numbers(m.at("got"));
  out.expected = numbers(m.at("expected"));
  return out;
}

PuzzlePicture picture_of(const json& p) {
  return {p.at("tensor"),     p.at("memory"),    p.at("is_store"), p.at("line"),
          p.at("lane_bytes"), p.at("transfers"), p.at("ideal"),    p.at("svg")};
}

/// "9 x 9"; without trailing ones.
std::string extents(const std::array<index_t, 3>& e) {
  std::string out = cat(e[0]);
  if (e[1] > 1 || e[2] > 1) out += cat(" x ", e[1]);
  return e[2] > 1 ? out + cat(" x ", e[2]) : out;
}

std::string shape(index_t rows, index_t cols) {
  return std::min(rows, cols) == 1 ? cat("(", std::max(rows, cols), ")")
                                   : cat("(", rows, ",", cols, ")");
}

/// Tensors and launch; for values that no kernel computes, their description.
std::string facts_of(const PuzzleCase& c) {
  std::string out;
  for (const auto& each : c.coverage)
    out += cat(out.empty() ? "" : ", ", each.tensor, " ", shape(each.rows, each.cols));
  if (c.block[0] == 0) {
    for (const auto& each : c.outputs)
      if (each.rows > 1) out += cat(", ", each.rows, " x ", each.cols);
    return c.what + out;
  }
  out += cat("; grid ", extents(c.grid), ", blocks of ", extents(c.block), " threads");
  if (c.shared_bytes == 0 || c.chooses_tiles) return out;
  return out + cat(", ", c.shared_bytes, " bytes of shared memory");
}

PuzzleCase case_of(const json& c) {
  PuzzleCase out;
  out.what = c.at("what");
  out.is_brief = c.value("brief", false);
  out.chooses_tiles = c.value("chooses_tiles", false);
  for (const auto& each : c.at("outputs")) out.outputs.push_back(matrix_from(each));
  for (const auto& each : c.at("goals"))
    out.goals.push_back({each.at("what"), number(each.at("got")), number(each.at("limit")),
                         each.at("reached").get<bool>(), each.at("advice")});
  const json& report = c.at("report");
  if (!report.is_object()) return out;
  out.kernel = report.at("kernel");
  out.grid = report.at("grid");
  out.block = report.at("block_dim");
  out.shared_bytes = report.at("shared_bytes");
  if (c.contains("pictures"))
    for (const auto& each : c.at("pictures")) out.pictures.push_back(picture_of(each));
  out.stages = c.value("stages", "");
  for (const auto& each : report.at("findings")) out.findings.push_back(finding_of(each));
  for (const auto& each : report.at("counters").at("by_access"))
    if (each.contains("line"))
      out.accesses.push_back({each.at("tensor"), each.at("memory"), each.at("operation") == "store",
                              each.at("file"), each.at("line"), each.at("worst_transfers"),
                              each.at("worst_ideal")});
  for (const auto& each : report.at("tensors"))
    out.coverage.push_back({each.at("tensor"), each.at("is_output").get<bool>(),
                            each.at("shape").at(0), each.at("shape").at(1), each.at("elements"),
                            each.at("read"), each.at("written")});
  return out;
}

}  // namespace

bool PuzzleMatrix::is_wrong(index_t i) const {
  const auto at = static_cast<std::size_t>(i);
  return !(std::abs(got[at] - expected[at]) <= tolerance);
}

bool PuzzleCase::is_right() const {
  const auto bad = [](const PuzzleFinding& f) { return f.counts(); };
  return std::all_of(outputs.begin(), outputs.end(), [](const auto& m) { return m.wrong == 0; }) &&
         std::none_of(findings.begin(), findings.end(), bad) &&
         std::all_of(goals.begin(), goals.end(), [](const auto& g) { return g.reached; });
}

std::string PuzzlePicture::title() const {
  const char* const unit = memory == "shared" ? "pass through the banks" : "sector";
  const char* const units = memory == "shared" ? "passes through the banks" : "sectors";
  return cat(is_store ? "store to " : "load from ", tensor, ", line ", line, ": ", transfers, " ",
             transfers == 1 ? unit : units, ", ideal ", ideal);
}

std::vector<std::string> configuration_of(const PuzzleOutcome& outcome) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& line) {
    if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
  };
  const bool is_one = outcome.cases.front().block[0] == 0 ||
                      std::all_of(outcome.cases.begin(), outcome.cases.end(), [&](const auto& c) {
                        return facts_of(c) == facts_of(outcome.cases.front());
                      });
  for (const auto& c : outcome.cases)
    if (!c.is_brief) add(cat(is_one ? "" : c.what + ": ", facts_of(c), "."));
  for (const auto& c : outcome.cases)
    for (const auto& goal : c.goals) add(cat("Goal: ", goal.what, ", at most ", goal.limit, "."));
  return out;
}

std::optional<PuzzleOutcome> read_outcome(const std::string& text) {
  const json all = json::parse(text, nullptr, false);
  if (all.is_discarded()) return {};
  PuzzleOutcome out;
  out.solved = all.at("solved").get<bool>();
  out.error = all.value("error", "");
  out.unavailable = all.value("unavailable", false);
  for (const auto& each : all.at("cases")) out.cases.push_back(case_of(each));
  return out;
}

}  // namespace tessera::course
