// Ratios, shares of the peak and disturbed peaks, from samples made up for this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "bench/report.hpp"
#include "bench/support.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {
namespace {

using nlohmann::json;
using testing::disturbed_throughout;
using ::testing::HasSubstr;
using testing::made_results;
using ::testing::Not;

TEST(BenchFigures, RatiosAreTakenTurnByTurn) {
  const BenchResults results = made_results();
  const Figures tiled = figures(results, results.rows[1]);
  EXPECT_DOUBLE_EQ(tiled.seconds.median, 1e-4);
  EXPECT_NEAR(tiled.gflops, 2.0 * 64 * 64 * 64 / 1e-4 * 1e-9, 1e-9);
  // Peak and tiled slow down together in the third round: the share stays.
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
  for (std::size_t round : {0, 1}) peak.samples[round].seconds = 1.5e-4;
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
  for (std::size_t round = 0; round < 3; ++round)
    results.rows[3].samples[round].seconds = seconds[round];
  EXPECT_TRUE(figures(results, results.rows[0]).peak_disturbed);
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
  for (std::size_t round = 0; round < 3; ++round) {
    results.rows[2].samples[round].seconds = blas[round];
    results.rows[3].samples[round].seconds = 1e-5;
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

}  // namespace
}  // namespace tessera::bench
