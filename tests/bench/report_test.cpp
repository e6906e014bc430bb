#include "bench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "bench/support.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_results;
using testing::made_row;
using ::testing::Not;
using ::testing::Pair;
using testing::xml_fault;

TEST(BenchFigures, RatiosAreTakenTurnByTurn) {
  const BenchResults results = made_results();
  const Figures tiled = figures(results, results.rows[1]);
  EXPECT_DOUBLE_EQ(tiled.seconds.median, 1e-4);
  EXPECT_NEAR(tiled.gflops, 2.0 * 64 * 64 * 64 / 1e-4 * 1e-9, 1e-9);
  // Peak and tiled slow down together in the third turn: the share stays.
  EXPECT_NEAR(tiled.percent_of_peak.median, 10, 1e-9);
  EXPECT_NEAR(tiled.percent_of_peak.min, 10, 1e-9);
  EXPECT_NEAR(tiled.percent_of_peak.max, 10, 1e-9);
  ASSERT_EQ(tiled.ratios.size(), 1u);
  EXPECT_EQ(tiled.ratios[0].first, "blas");
  EXPECT_NEAR(tiled.ratios[0].second, 0.2, 1e-12);
}

TEST(BenchFigures, ADisturbedPeakGivesWayToItsFastestTurnAndIsNamed) {
  BenchResults results = made_results();
  EXPECT_FALSE(peak_disturbed(results, results.rows[1]));
  BenchRow& peak = results.rows[3];
  ASSERT_EQ(peak.kind, Contestant::Kind::peak);
  // 64^3: tiled takes 1e-4, 1e-4 and 2e-4 s; 128^3 shows that the peak takes 1e-5 s for 64^3.
  for (std::size_t turn : {0, 1}) peak.samples[turn].seconds = 1.5e-4;
  const Figures tiled = figures(results, results.rows[1]);
  EXPECT_NEAR(tiled.percent_of_peak.median, 10, 1e-9);
  EXPECT_NEAR(tiled.percent_of_peak.max, 10, 1e-9);
  EXPECT_TRUE(tiled.peak_disturbed);
  EXPECT_FALSE(figures(results, results.rows[5]).peak_disturbed);  // another size

  const json document = json::parse(to_json(results));
  for (const auto& entry : document["benchmarks"])
    EXPECT_EQ(entry.contains("peak_disturbed"), entry["m"] == 64) << entry;
  EXPECT_THAT(case_table(results, results.rows[0]).text, HasSubstr(kPeakDisturbed));
  EXPECT_THAT(case_table(results, results.rows[4]).text, Not(HasSubstr(kPeakDisturbed)));
  EXPECT_THAT(to_markdown(results), HasSubstr("At 64 the peak was disturbed"));
  EXPECT_THAT(to_csv(results), HasSubstr(kPeakDisturbed));
  const BenchResults kept = parse_bench_json(to_json(results), "text");
  EXPECT_TRUE(peak_disturbed(kept, kept.rows[0]));
  EXPECT_FALSE(peak_disturbed(kept, kept.rows[4]));
}

TEST(BenchFigures, APeakThatScattersIsDisturbedEvenWhereNothingIsFaster) {
  BenchResults results = made_results();
  const double seconds[] = {1e-5, 1.2e-5, 1.1e-5};
  for (std::size_t turn = 0; turn < 3; ++turn)
    results.rows[3].samples[turn].seconds = seconds[turn];
  EXPECT_TRUE(figures(results, results.rows[0]).peak_disturbed);
}

/// A peak that was held up at every size, so that a product seems to be 1.4 times as fast.
BenchResults disturbed_throughout() {
  BenchResults out = made_results();
  for (auto& row : out.rows) {
    const double scale = row.on.shape.M == 64 ? 1 : 8;
    if (row.kind != Contestant::Kind::peak) continue;
    for (Sample& sample : row.samples) sample.seconds = 2.8e-5 * scale;
  }
  return out;
}

TEST(BenchFigures, AboveThePeakThereIsNoShare) {
  const BenchResults results = disturbed_throughout();
  EXPECT_TRUE(std::isnan(figures(results, results.rows[2]).percent_of_peak.median));
  EXPECT_TRUE(figures(results, results.rows[2]).peak_disturbed);
  EXPECT_NEAR(figures(results, results.rows[1]).percent_of_peak.median, 28, 1e-9);

  for (const auto& entry : json::parse(to_json(results))["benchmarks"]) {
    if (entry["contestant"] == "blas") {
      EXPECT_TRUE(entry.at("percent_of_peak").is_null()) << entry;
    } else if (entry.contains("percent_of_peak") && entry["percent_of_peak"].is_number()) {
      EXPECT_LE(entry["percent_of_peak"].get<double>(), 100.0);
    }
  }
  const std::string table = case_table(results, results.rows[2]).text;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("blas ")) {
      EXPECT_THAT(line, HasSubstr(" -  ")) << table;
    }
  }
  EXPECT_THAT(table, HasSubstr(kPeakDisturbed));
  EXPECT_THAT(to_markdown(results), HasSubstr("| blas | 26.2 (-) | 26.2 (-) |"));
  EXPECT_THAT(to_markdown(results), HasSubstr("At 64, 128 the peak was disturbed"));
}

TEST(BenchFigures, ATurnThatOutranThePeakIsTheWholePeak) {
  BenchResults results = made_results();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 128; });
  const double blas[] = {1.1e-5, 1.2e-5, 0.9e-5};
  for (std::size_t turn = 0; turn < 3; ++turn) {
    results.rows[2].samples[turn].seconds = blas[turn];
    results.rows[3].samples[turn].seconds = 1e-5;
  }
  const Figures found = figures(results, results.rows[2]);
  EXPECT_NEAR(found.percent_of_peak.median, 100 / 1.1, 1e-9);
  EXPECT_EQ(found.percent_of_peak.max, 100);
}

TEST(BenchFigures, APeakFarBelowThatOfOtherSizesIsDisturbed) {
  for (const auto& [slower, disturbed] : {std::pair{1.1, false}, {1.25, true}, {2.0, true}}) {
    BenchResults results = made_results();
    for (Sample& sample : results.rows[3].samples) sample.seconds *= slower;
    EXPECT_EQ(peak_disturbed(results, results.rows[0]), disturbed) << slower;
    EXPECT_FALSE(peak_disturbed(results, results.rows[4])) << "the better size";
    EXPECT_EQ(to_markdown(results).find(kPeakDisturbed) != std::string::npos, disturbed);
    for (std::size_t i : {0, 1, 2, 3}) results.rows[i].on.threads = 2;
    EXPECT_FALSE(peak_disturbed(results, results.rows[0])) << "another number of threads";
    for (auto& row : results.rows) row.on.threads = 1, row.on.device = "cuda:0";
    EXPECT_FALSE(peak_disturbed(results, results.rows[0])) << "follows the device's clock";
  }
}

TEST(BenchFigures, TurnsThatOnlyOneTookDoNotCount) {
  BenchResults results = made_results();
  results.rows[1].samples.resize(1);
  EXPECT_EQ(figures(results, results.rows[1]).percent_of_peak.count, 1u);
}

TEST(BenchFigures, RefusedRowsHaveNoneAndAreNoOnesMeasure) {
  BenchResults results = made_results();
  for (auto& row : results.rows) {
    if (row.kind == Contestant::Kind::peer) row.status = RowStatus::refused;
  }
  EXPECT_TRUE(figures(results, results.rows[0]).ratios.empty());
  const Figures refused = figures(results, results.rows[2]);
  EXPECT_EQ(refused.gflops, 0);
  EXPECT_TRUE(std::isnan(refused.percent_of_peak.median));
}

TEST(BenchFigures, APeerIsNotComparedWithItself) {
  const BenchResults results = made_results();
  EXPECT_TRUE(figures(results, results.rows[2]).ratios.empty());
}

TEST(BenchJson, HasTheShapeOfGoogleBenchmark) {
  const json document = json::parse(to_json(made_results()));
  ASSERT_TRUE(document.at("context").is_object());
  ASSERT_TRUE(document.at("benchmarks").is_array());
  std::size_t repetitions = 0, aggregates = 0;
  for (const auto& entry : document["benchmarks"]) {
    for (const char* key :
         {"name", "run_name", "run_type", "time_unit", "contestant", "dtype", "status"})
      EXPECT_TRUE(entry.at(key).is_string()) << key;
    for (const char* key : {"real_time", "cpu_time"}) EXPECT_TRUE(entry.at(key).is_number()) << key;
    for (const char* key : {"family_index", "per_family_instance_index", "repetitions", "threads",
                            "iterations", "m", "n", "k"})
      EXPECT_TRUE(entry.at(key).is_number_integer()) << key;
    EXPECT_EQ(entry["time_unit"], "ns");
    if (entry["run_type"] == "aggregate") {
      ++aggregates;
      EXPECT_EQ(entry["name"], entry["run_name"].get<std::string>() + "_" +
                                   entry.at("aggregate_name").get<std::string>());
      EXPECT_TRUE(entry.at("aggregate_unit") == "time" || entry["aggregate_unit"] == "percentage");
    } else {
      ++repetitions;
      EXPECT_EQ(entry["name"], entry["run_name"]);
      EXPECT_TRUE(entry.at("repetition_index").is_number_integer());
    }
  }
  EXPECT_EQ(repetitions, 8 * 3 + 1u);
  EXPECT_EQ(aggregates, 8 * 6u);
}

TEST(BenchJson, CountersStandInEachRepetitionAndInTheMedian) {
  const json document = json::parse(to_json(made_results()));
  bool seen = false;
  for (const auto& entry : document["benchmarks"]) {
    if (entry["run_name"] != "tiled/f32/64x64x64/threads:1") continue;
    if (entry["run_type"] == "aggregate" && entry["aggregate_name"] != "median") continue;
    seen = true;
    EXPECT_NEAR(entry.at("percent_of_peak").get<double>(), 10, 1e-9);
    EXPECT_NEAR(entry.at("ratio_blas").get<double>(), 0.2, 1e-12);
    EXPECT_DOUBLE_EQ(entry.at("max_error_ratio").get<double>(), 0.25);
    EXPECT_DOUBLE_EQ(entry.at("bytes").get<double>(), 3 * 4 * 64 * 64);
    EXPECT_DOUBLE_EQ(entry.at("arithmetic_intensity").get<double>(), 64 / 6.0);
    EXPECT_GT(entry.at("gflops").get<double>(), 0);
  }
  EXPECT_TRUE(seen);
}

TEST(BenchJson, RefusedRowsAreErrorsWithoutTimes) {
  const json document = json::parse(to_json(made_results()));
  const json& last = document["benchmarks"].back();
  EXPECT_EQ(last.at("status"), "refused");
  EXPECT_EQ(last.at("error_occurred"), true);
  EXPECT_THAT(last.at("error_message").get<std::string>(), HasSubstr("wrong at (0,0)"));
  EXPECT_EQ(last.at("real_time"), 0.0);
  for (const auto& entry : document["benchmarks"]) EXPECT_FALSE(entry.contains("ratio_broken"));
}

TEST(BenchJson, ReadsBack) {
  const BenchResults before = made_results();
  const BenchResults after = parse_bench_json(to_json(before), "text");
  EXPECT_EQ(after.context, before.context);
  ASSERT_EQ(after.rows.size(), before.rows.size());
  for (std::size_t i = 0; i < after.rows.size(); ++i) {
    const BenchRow &a = after.rows[i], &b = before.rows[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.message, b.message);
    EXPECT_EQ(a.on.shape, b.on.shape);
    EXPECT_EQ(a.max_error_ratio, b.max_error_ratio);
    ASSERT_EQ(a.samples.size(), b.samples.size());
    for (std::size_t s = 0; s < a.samples.size(); ++s) {
      EXPECT_EQ(a.samples[s].turn, b.samples[s].turn);
      EXPECT_EQ(a.samples[s].iterations, b.samples[s].iterations);
      EXPECT_NEAR(a.samples[s].seconds / b.samples[s].seconds, 1, 1e-12);
    }
  }
  EXPECT_EQ(to_markdown(after), to_markdown(before));
  EXPECT_EQ(to_csv(after), to_csv(before));
}

TEST(BenchJson, WholeNanosecondsComeBackToTheLastBit) {
  BenchResults results = made_results();
  for (int ns = 25; ns < 20000; ns += 200) {
    auto& sample = results.rows[0].samples[0];
    sample.seconds = std::chrono::duration<double>(std::chrono::nanoseconds(ns)).count();
    const BenchResults after = parse_bench_json(to_json(results), "text");
    ASSERT_EQ(after.rows[0].samples[0].seconds, sample.seconds) << ns << " ns";
  }
}

TEST(BenchJson, NumbersThatJsonLacksAreNull) {
  BenchResults results = made_results();
  results.rows.back().max_error_ratio = std::numeric_limits<double>::infinity();
  const json document = json::parse(to_json(results));
  EXPECT_TRUE(document["benchmarks"].back()["max_error_ratio"].is_null());
  EXPECT_NO_THROW(parse_bench_json(to_json(results), "text"));
}

TEST(BenchJson, BytesThatAreNoUtf8DoNotStopTheReport) {
  BenchResults results = made_results();
  results.context["host_name"] = "caf\xe9";
  EXPECT_NO_THROW(parse_bench_json(to_json(results), "text"));
}

std::string refusal(const std::string& text) {
  try {
    parse_bench_json(text, "f.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::file);
    return error.what();
  }
  ADD_FAILURE() << "read: " << text.substr(0, 200);
  return {};
}

TEST(BenchJson, RefusesWhatItDidNotWriteAndSaysWhere) {
  EXPECT_THAT(refusal("no json"), HasSubstr("'f.json' is not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("holds no benchmark results"));
  EXPECT_THAT(refusal(R"({"context":{},"benchmarks":[{}]})"), HasSubstr("entry 0"));
  EXPECT_THAT(refusal(R"({"context":{},"benchmarks":[5]})"), HasSubstr("run_type"));
  const auto changed = [](const char* key, const json& value) {
    json document = json::parse(to_json(made_results()));
    document["benchmarks"][1][key] = value;
    return document.dump();
  };
  EXPECT_THAT(refusal(changed("m", -1)), HasSubstr("below 1"));
  EXPECT_THAT(refusal(changed("m", "x")), HasSubstr("'m'"));
  EXPECT_THAT(refusal(changed("kind", "friend")), HasSubstr("friend"));
  EXPECT_THAT(refusal(changed("status", "fine")), HasSubstr("fine"));
  EXPECT_THAT(refusal(changed("dtype", "f99")), HasSubstr("f99"));
  EXPECT_THAT(refusal(changed("real_time", 0)), HasSubstr("real_time"));
  EXPECT_THAT(refusal(changed("time_unit", "ms")), HasSubstr("unit"));
}

/// A number that a clock gives: any.
double some_seconds() {
  return std::ldexp(*rc::gen::inRange(1, 1 << 30) / 3.0, *rc::gen::inRange(-58, -20));
}

RC_GTEST_PROP(BenchJson, WhatIsReadIsWrittenTheSame, ()) {
  BenchResults results = made_results();
  for (auto& row : results.rows) {
    for (Sample& sample : row.samples)
      sample.seconds = some_seconds(), sample.cpu_seconds = some_seconds();
  }
  const std::string once = to_json(results);
  RC_ASSERT(to_json(parse_bench_json(once, "once")) == once);
}

RC_GTEST_PROP(BenchJson, DamagedFilesAreReadOrRefused, ()) {
  static const std::string whole = to_json(made_results());
  std::string text = whole.substr(0, *rc::gen::inRange<std::size_t>(0, whole.size() + 1));
  const int damages = *rc::gen::inRange(0, 4);
  for (int i = 0; i < damages && !text.empty(); ++i)
    text[*rc::gen::inRange<std::size_t>(0, text.size())] =
        static_cast<char>(*rc::gen::inRange(0, 256));
  try {
    const BenchResults results = parse_bench_json(text, "damaged");
    to_csv(results);
    to_markdown(results);
    RC_ASSERT(xml_fault(to_svg(results)) == "" || damages > 0);
  } catch (const Error& error) {
    RC_ASSERT(error.category() == Category::file);
  }
}

RC_GTEST_PROP(BenchJson, ChangedFieldsAreReadOrRefused, ()) {
  static const json whole = json::parse(to_json(made_results()));
  json document = whole;
  auto& entries = document["benchmarks"];
  json& entry = entries[*rc::gen::inRange<std::size_t>(0, entries.size())];
  auto at = entry.begin();
  std::advance(at, *rc::gen::inRange<long>(0, static_cast<long>(entry.size())));
  const std::vector<json> values = {nullptr,
                                    -1,
                                    0,
                                    1e300,
                                    "",
                                    "x",
                                    json::array(),
                                    json::object(),
                                    std::numeric_limits<std::uint64_t>::max(),
                                    true,
                                    0.5};
  at.value() = values[*rc::gen::inRange<std::size_t>(0, values.size())];
  try {
    const BenchResults results = parse_bench_json(document.dump(), "changed");
    to_csv(results);
    to_markdown(results);
    to_svg(results);
    for (const auto& row : results.rows) case_table(results, row);
  } catch (const Error& error) {
    RC_ASSERT(error.category() == Category::file);
  }
}

/// The fields of each line, quotes resolved.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> out(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      out.back().back() += text[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) out.back().emplace_back();
    else if (c == '\n' && !quoted) out.push_back({""});
    else out.back().back() += c;
  }
  out.pop_back();
  return out;
}

TEST(BenchCsv, HasOneHeaderLineAndAsManyFieldsInEachLine) {
  const auto lines = read_csv(to_csv(made_results()));
  ASSERT_EQ(lines.size(), 10u);
  for (const auto& line : lines) EXPECT_EQ(line.size(), lines[0].size());
  const auto column = [&](const std::string& name) {
    const auto at = std::find(lines[0].begin(), lines[0].end(), name);
    EXPECT_NE(at, lines[0].end()) << name;
    return static_cast<std::size_t>(at - lines[0].begin());
  };
  EXPECT_EQ(lines[2][column("name")], "tiled");
  EXPECT_EQ(lines[2][column("status")], "verified");
  EXPECT_DOUBLE_EQ(std::stod(lines[2][column("seconds_median")]), 1e-4);
  EXPECT_NEAR(std::stod(lines[2][column("percent_of_peak")]), 10, 1e-6);
  EXPECT_NEAR(std::stod(lines[2][column("ratio_blas")]), 0.2, 1e-6);
  EXPECT_EQ(lines[2][column("repetitions")], "3");
  EXPECT_EQ(lines[9][column("status")], "refused");
  EXPECT_EQ(lines[9][column("remark")], "wrong at (0,0), \"quoted\"");
  EXPECT_EQ(lines[9][column("gflops")], "");
  EXPECT_EQ(lines[9][column("seconds_median")], "");
}

TEST(BenchMarkdown, NamesOfAFileGiveATerminalNoOrders) {
  BenchResults results = made_results();
  results.rows[0].name = "na\033[2Jive\r|";
  results.rows[0].message = "\033]0;title\a";
  results.context["peers"][0]["version"] = "1\033[31m";
  results.context["cpu_model"] = "chip\033[0m";
  std::vector<std::string> texts = {to_markdown(results),
                                    case_table(results, results.rows[0]).text};
  results.rows.erase(results.rows.begin() + 4, results.rows.end());  // one size: other tables
  results.rows[1].status = RowStatus::failed;
  results.rows[1].message = "because\033[2J";
  texts.push_back(to_markdown(results));
  texts.push_back(case_table(results, results.rows[0]).text);
  for (const auto& text : texts) {
    EXPECT_EQ(text.find('\033'), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos) << text;
  }
  EXPECT_THAT(texts[0], HasSubstr("| na\\x1b[2Jive\\x0d\\| |"));
}

TEST(BenchMarkdown, HasATableOfSizesAndTheBestAgainstEachPeer) {
  const std::string text = to_markdown(made_results());
  EXPECT_THAT(text, HasSubstr("### f32, 1 thread"));
  EXPECT_THAT(text, HasSubstr("| GFLOP/s (share of peak) | 64 | 128 |"));
  EXPECT_THAT(text, HasSubstr("| tiled | 5.24 (10.0 %) | 5.24 (10.0 %) |"));
  EXPECT_THAT(text, HasSubstr("| broken |  | refused |"));
  EXPECT_THAT(text, HasSubstr("| (algorithm) | tiled | tiled |"));
  EXPECT_THAT(text, HasSubstr("| blas | 0.20 | 0.20 |"));
  EXPECT_THAT(text, HasSubstr("blas: Blas 1.0"));
}

TEST(BenchMarkdown, WithoutAPeakThereIsNoShareOfIt) {
  BenchResults results = made_results();
  std::erase_if(results.rows,
                [](const BenchRow& row) { return row.kind == Contestant::Kind::peak; });
  EXPECT_THAT(to_markdown(results), HasSubstr("| tiled | 5.24 | 5.24 |"));
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  EXPECT_THAT(to_markdown(results), Not(HasSubstr("- %"))) << "one size";
}

TEST(BenchMarkdown, WhatIsSlowerByLittleDoesNotShowAsADraw) {
  const std::vector<std::pair<double, std::string>> shown = {{1.0004e-4, "0.999"},
                                                             {1.003e-4, "0.997"},
                                                             {1.01e-4, "0.99"},
                                                             {1e-4, "1.00"},
                                                             {0.998e-4, "1.00"}};
  for (const auto& [seconds, text] : shown) {
    BenchResults results = made_results();
    results.rows = {made_row("tiled", Contestant::Kind::algorithm, 64, {seconds}),
                    made_row("blas", Contestant::Kind::peer, 64, {1e-4})};
    EXPECT_THAT(to_markdown(results), HasSubstr(cat("| ", text, " |")));
    EXPECT_THAT(case_table(results, results.rows[0]).text, HasSubstr(cat(" ", text, " ")));
  }
}

TEST(BenchMarkdown, EveryTableLineHasAsManyCellsAsItsHeader) {
  BenchResults one = made_results();
  std::erase_if(one.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  one.rows[0].name = "a|b";
  for (const BenchResults& results : {made_results(), one}) {
    std::istringstream lines(to_markdown(results));
    std::size_t cells = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("|")) {
        cells = 0;
        continue;
      }
      std::size_t bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
      if (cells == 0) cells = bars;
      EXPECT_EQ(bars, cells) << line;
    }
  }
}

TEST(BenchSvg, DrawsLinesForSizesAndTheLadderForOne) {
  BenchResults results = made_results();
  const std::string lines = to_svg(results);
  EXPECT_EQ(xml_fault(lines), "");
  EXPECT_THAT(lines, HasSubstr("Speed over size: f32, 1 thread"));
  EXPECT_THAT(lines, HasSubstr(">measured peak<"));
  EXPECT_THAT(lines, HasSubstr("Test &lt;CPU&gt; &amp;"));
  EXPECT_THAT(lines, Not(HasSubstr(">broken<"))) << "unverified rows are not drawn";
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  const std::string bars = to_svg(results);
  EXPECT_EQ(xml_fault(bars), "");
  EXPECT_THAT(bars, HasSubstr("Share of the peak at 128"));
  EXPECT_LT(bars.find(">naive<"), bars.find(">tiled<"));
  EXPECT_THAT(bars, Not(HasSubstr(">broken<")));
}

TEST(BenchSvg, CallsWithoutAShareAreDrawnByTheirTime) {
  BenchResults results = made_results();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  BenchResults idle = results;
  std::erase_if(idle.rows, [](const BenchRow& row) { return row.kind == Contestant::Kind::peak; });
  for (auto& row : idle.rows) row.on.readiness.idle_seconds = 0.05;
  results.rows.insert(results.rows.end(), idle.rows.begin(), idle.rows.end());
  const std::string svg = to_svg(results);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("no verified result")));
  EXPECT_THAT(svg, HasSubstr("1 thread, after 0.05 s of idleness"));
  EXPECT_THAT(svg, HasSubstr(">ms a call, median and quartiles; shorter is faster<"));
  EXPECT_THAT(svg, HasSubstr(">800 us<"));
  EXPECT_THAT(svg, HasSubstr("% of the measured multiply-add peak")) << "the calls in a row";
}

TEST(BenchSvg, NoBarIsDrawnBeyondADisturbedPeak) {
  BenchResults results = disturbed_throughout();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  const std::string svg = to_svg(results);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">no share, 26.2 GFLOP/s<"));
  EXPECT_THAT(svg, HasSubstr("At 128 the peak was disturbed"));
  EXPECT_THAT(svg, Not(HasSubstr(">120</text>"))) << "the axis ends at the peak";
  EXPECT_THAT(to_svg(disturbed_throughout()), HasSubstr("At 64, 128 the peak was disturbed"));
}

TEST(BenchSvg, SaysWhatItsColoursMean) {
  BenchResults results = made_results();
  for (const char* words : {"Tessera's algorithms (solid)",
                            "other libraries, a colour each (dashed)", "the peak (dotted)"})
    EXPECT_THAT(to_svg(results), HasSubstr(words));
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  EXPECT_THAT(to_svg(results), HasSubstr(">Tessera's algorithms<"));
  std::erase_if(results.rows,
                [](const BenchRow& row) { return row.kind == Contestant::Kind::peer; });
  EXPECT_THAT(to_svg(results), Not(HasSubstr("other libraries"))) << "none is drawn";
}

TEST(BenchSvg, APeerFarBehindIsNamedAndDoesNotStretchTheAxis) {
  BenchResults results = made_results();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.name == "naive"; });
  for (index_t side : {64, 128})
    results.rows.push_back(made_row("reference", Contestant::Kind::peer, side,
                                    std::vector(3, side == 64 ? 1e-3 : 8e-3)));
  const std::string svg = to_svg(results);
  EXPECT_THAT(svg, Not(HasSubstr(">reference<")));
  EXPECT_THAT(svg, HasSubstr("Not drawn: reference, at most 0.524 GFLOP/s"));
  EXPECT_THAT(svg, HasSubstr(", linear</text>"));
  // Beside an algorithm as slow it takes no room, and an algorithm is never left out.
  for (index_t side : {64, 128})
    results.rows.push_back(made_row("naive", Contestant::Kind::algorithm, side,
                                    std::vector(3, side == 64 ? 1e-3 : 8e-3)));
  EXPECT_THAT(to_svg(results), HasSubstr(">reference<"));
  EXPECT_THAT(to_svg(results), HasSubstr(">naive<"));
}

/// One algorithm and a peer on each of these shapes.
BenchResults results_on(const std::vector<Shape>& shapes) {
  BenchResults out;
  for (const Shape& shape : shapes) {
    for (const auto kind : {Contestant::Kind::algorithm, Contestant::Kind::peer}) {
      const bool ours = kind == Contestant::Kind::algorithm;
      out.rows.push_back(made_row(ours ? "tiled" : "blas", kind, 64, {ours ? 1e-4 : 2e-4}));
      out.rows.back().on.shape = shape;
    }
  }
  return out;
}

TEST(BenchSvg, ShapesThatDifferInOneSizeStandAtThatSize) {
  EXPECT_THAT(to_svg(results_on({{64, 64, 64}, {128, 128, 128}})), HasSubstr(">M = N = K<"));
  EXPECT_THAT(to_svg(results_on({{64, 64, 64, 1, true}, {128, 128, 128, 1, true}})),
              HasSubstr(">M = N = K, with TN<"));
  const std::string rows = to_svg(results_on({{1, 4096, 512}, {16, 4096, 512}}));
  EXPECT_THAT(rows, HasSubstr(">M, with N = 4096, K = 512<"));
  EXPECT_THAT(rows, HasSubstr("class=\"curve "));
  EXPECT_THAT(to_svg(results_on({{8, 8, 8, 10}, {8, 8, 8, 100}})),
              HasSubstr(">batch, with M = 8, N = 8, K = 8<"));
}

TEST(BenchSvg, OtherShapesStandSideBySideUnderTheirNames) {
  const std::vector<Shape> shapes = {
      {64, 64, 64}, {64, 64, 64, 1, true}, {1, 4096, 4096}, {8, 8, 8, 1000}};
  const std::string svg = to_svg(results_on(shapes));
  EXPECT_EQ(xml_fault(svg), "");
  std::size_t before = 0;
  for (const Shape& shape : shapes) {
    const std::size_t at = svg.find(cat(">", to_string(shape), "</text>"));
    ASSERT_NE(at, std::string::npos) << to_string(shape);
    EXPECT_GT(at, before) << "in the order given";
    before = at;
  }
  EXPECT_THAT(svg, Not(HasSubstr("class=\"curve "))) << "nothing joins different products";
}

TEST(BenchTable, ManyPeersStandInSeveralTablesThatFitATerminal) {
  BenchResults results;
  results.rows.push_back(
      made_row("block_tiled_vectorized", Contestant::Kind::algorithm, 64, {1e-4}));
  for (int i = 0; i < 15; ++i)
    results.rows.push_back(
        made_row(cat("openblas-new-", i), Contestant::Kind::peer, 64, {1e-4 * (i + 2)}));
  results.rows.push_back(made_row("peak", Contestant::Kind::peak, 64, {1e-5}));
  const std::string text = case_table(results, results.rows[0]).text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  for (int i = 0; i < 15; ++i) EXPECT_THAT(text, HasSubstr(cat("x openblas-new-", i)));
  EXPECT_THAT(text, HasSubstr("16.00")) << "times the speed of the last peer";
}

TEST(BenchTable, AReasonIsGivenOnceBelow) {
  BenchResults results = made_results();
  for (const char* name : {"xsmm", "xsmm-new"}) {
    BenchRow row = made_row(name, Contestant::Kind::peer, 128, {});
    row.status = RowStatus::unsupported;
    row.message = "libxsmm has no product of 128";
    results.rows.push_back(row);
  }
  const std::string text = case_table(results, results.rows.back()).text;
  EXPECT_THAT(text, HasSubstr("\nxsmm, xsmm-new: unsupported: libxsmm has no product of 128\n"));
  EXPECT_EQ(text.find("libxsmm"), text.rfind("libxsmm"));
  EXPECT_THAT(text, Not(HasSubstr("x xsmm"))) << "there is no ratio to it";
}

TEST(BenchTable, ShowsEveryRowOfItsCase) {
  const BenchResults results = made_results();
  const CaseTable table = case_table(results, results.rows.back());
  EXPECT_EQ(table.title, "f32, 1 thread, 128x128x128");
  for (const char* word :
       {"naive", "tiled", "blas", "measured peak", "refused: wrong at (0,0)", "x blas"})
    EXPECT_THAT(table.text, HasSubstr(word));
}

}  // namespace
}  // namespace tessera::cli
