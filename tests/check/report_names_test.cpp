// The names that others script against: the tables of docs/report.md and docs/checker.md hold those
// of the code, no fewer and no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "check/gpu_truth.hpp"
#include "check/reports.hpp"
#include "tessera/check/format.hpp"

namespace tessera::check {
namespace {

/// The cells of each row of the first table behind a heading.
std::vector<std::vector<std::string>> table_below(const std::string& document,
                                                  const std::string& heading) {
  const auto docs = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream in(docs / "docs" / document);
  std::vector<std::vector<std::string>> rows;
  bool found = false;
  for (std::string line; std::getline(in, line);) {
    if (line == heading) found = true;
    if (!found) continue;
    if (!line.starts_with("|")) {
      if (rows.empty()) continue;
      break;
    }
    rows.emplace_back();
    for (std::size_t at = 1, end = 0; (end = line.find('|', at)) != std::string::npos;
         at = end + 1) {
      const std::string cell = line.substr(at, end - at);
      const auto first = cell.find_first_not_of(' ');
      rows.back().push_back(first == std::string::npos
                                ? ""
                                : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    }
  }
  EXPECT_GT(rows.size(), 2u) << document << ": no table below " << heading;
  rows.erase(rows.begin(), rows.begin() + std::min<std::ptrdiff_t>(2, std::ssize(rows)));
  return rows;
}

std::string code(std::string_view text) { return cat("`", text, "`"); }

TEST(ReportNames, TheTableOfCountersIsThatOfTheCode) {
  std::vector<std::vector<std::string>> wanted;
  for (const CounterName& each : kCounters) {
    std::string metric;
    for (const auto& known : gpu_truth::kMetrics)
      if (known.counter == each.value) metric = code(known.name);
    wanted.push_back({code(each.name), std::string(each.meaning), metric});
  }
  EXPECT_EQ(table_below("report.md", "## Counters"), wanted);
}

TEST(ReportNames, TheTableOfKindsIsThatOfTheCode) {
  std::set<std::string> documented, known;
  for (const auto& row : table_below("checker.md", "## What it finds")) {
    const std::string& cell = row.at(0);  // may name two
    for (std::size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
      const auto end = cell.find('`', at + 1);
      documented.insert(cell.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  for (const auto kind : kKindNames) known.insert(std::string(kind));
  EXPECT_EQ(documented, known);
}

TEST(ReportNames, TheRulesOfSarifHaveTheSeveritiesOfTheTable) {
  const auto log = nlohmann::json::parse(to_sarif(tiled_report(64)));
  std::map<std::string, std::string> levels;
  for (const auto& rule : log.at("runs").at(0).at("tool").at("driver").at("rules"))
    levels[rule.at("id")] = rule.at("defaultConfiguration").at("level");
  for (const auto& row : table_below("checker.md", "## What it finds")) {
    for (const auto& [kind, level] : levels) {
      if (row.at(0).find(code(kind)) == std::string::npos) continue;
      EXPECT_EQ(row.at(1).substr(0, level.size()), level) << kind;
    }
  }
}

/// "findings[].location.line" of everything in a document; counters are named apart.
void add_keys(const nlohmann::json& value, const std::string& path, std::set<std::string>& out) {
  const bool leaf = path.ends_with("counters.total") || path.ends_with("].counters");
  if (value.is_object() && !leaf && !value.empty()) {
    for (const auto& [key, inner] : value.items())
      add_keys(inner, path.empty() ? key : path + "." + key, out);
  } else if (value.is_array() && !value.empty() && value[0].is_object()) {
    for (const auto& inner : value) add_keys(inner, path + "[]", out);
  } else {
    out.insert(path);
  }
}

TEST(ReportNames, TheTableOfKeysIsThatOfTheDocument) {
  Report report = tiled_report(64);
  report.total.async_copy_requests = 1;
  Finding finding;
  finding.location = {"mine.cpp", 3, 4};
  finding.other = {"mine.cpp", 5, 6};
  finding.threads.resize(2);
  finding.also.push_back({"tile (4,4) at byte 64", finding.location, finding.other});
  report.findings.push_back(finding);
  report.launches.push_back({"kernel", report.grid, report.block});
  std::set<std::string> printed, documented;
  add_keys(nlohmann::json::parse(to_json(report, device_model("h200"))), "", printed);
  for (const auto& row : table_below("report.md", "## Keys"))
    documented.insert(row.at(0).substr(1, row.at(0).size() - 2));
  for (const char* null_or_object : {"findings[].location", "findings[].other",
                                     "findings[].also[].location", "findings[].also[].other"})
    EXPECT_EQ(documented.erase(null_or_object), 1u);
  EXPECT_EQ(printed, documented);
}

TEST(ReportText, NamesStepsInstructionsAndWhatIsUnmeasured) {
  Report report = tiled_report(64);
  report.total.async_copy_requests = 3;
  report.total.async_copy_sectors = 12;
  report.registers = 40;
  const std::string text = to_text(report, device_model("h200"));
  using testing::ContainsRegex;
  for (const char* wanted :
       {"lanes of each request", "\n  tiled.hpp:46  ", "\nby superstep\n", "\n  load x 8  ",
        "\n  multiply x 8  ", "\ninstructions of warps\n", "\n  asynchronous copy +3 +12\n",
        "\n  shared load  +[0-9]+  ", "\n  barrier of a block  +16\n",
        "note: wavefronts of asynchronous copies are an estimate", "40 registers each"})
    EXPECT_THAT(text, ContainsRegex(wanted));
  EXPECT_EQ(text.find("no flops"), std::string::npos);
  EXPECT_EQ(text.find("vote"), std::string::npos) << "only what there was";
  report.total.flops = report.total.fma_threads = 0;
  EXPECT_THAT(to_text(report, device_model("h200")), ContainsRegex("note: no flops: only fma"));
}

}  // namespace
}  // namespace tessera::check
