// JSON to values: see puzzle_outcome.hpp.
#include "puzzle_outcome.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace tessera::cli {

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
                    f.at("count")};
  read_place(f.at("location"), out.file, out.line);
  read_place(f.at("other"), out.other_file, out.other_line);
  return out;
}

PuzzleMatrix matrix_of(const json& m) {
  PuzzleMatrix out{m.at("name"),  m.at("looks_like"), m.at("rows"), m.at("cols"),
                   m.at("wrong"), m.at("tolerance"),  {},           {}};
  out.got = numbers(m.at("got"));
  out.expected = numbers(m.at("expected"));
  return out;
}

PuzzleCase case_of(const json& c) {
  PuzzleCase out;
  out.what = c.at("what");
  for (const auto& each : c.at("outputs")) out.outputs.push_back(matrix_of(each));
  for (const auto& each : c.at("goals"))
    out.goals.push_back({each.at("what"), number(each.at("got")), number(each.at("limit")),
                         each.at("reached").get<bool>()});
  const json& report = c.at("report");
  if (!report.is_object()) return out;
  out.tile_cols = report.at("block_dim").at(0).get<index_t>();
  out.tile_rows = report.at("block_dim").at(1).get<index_t>();
  for (const auto& each : report.at("findings")) out.findings.push_back(finding_of(each));
  for (const auto& each : report.at("tensors"))
    out.coverage.push_back({each.at("tensor"), each.at("is_output").get<bool>(),
                            each.at("elements"), each.at("read"), each.at("written")});
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

std::optional<PuzzleOutcome> read_outcome(const std::string& text) {
  const json all = json::parse(text, nullptr, false);
  if (all.is_discarded()) return {};
  PuzzleOutcome out;
  out.solved = all.at("solved").get<bool>();
  out.error = all.value("error", "");
  for (const auto& each : all.at("cases")) out.cases.push_back(case_of(each));
  return out;
}

}  // namespace tessera::cli
