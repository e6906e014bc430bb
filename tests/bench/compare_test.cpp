// Verdicts on samples made by hand: they change when they should, and noise alone gives none.
#include "bench/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include "bench/support.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_results;
using testing::made_row;
using ::testing::Not;
using testing::repeated;
using ::testing::StartsWith;
using Kind = Contestant::Kind;

BenchResults results_of(const std::vector<double>& seconds) {
  BenchResults out;
  out.rows.push_back(made_row("packed", Kind::algorithm, 64, seconds));
  return out;
}

/// `count` times around `middle` with relative noise.
std::vector<double> noisy(double middle, double noise, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(middle * std::exp(normal(random)));
  return out;
}

std::vector<double> five_times(double seconds) { return std::vector<double>(5, seconds); }

RowComparison comparison(const std::vector<double>& before, const std::vector<double>& after,
                         double threshold = 0.02) {
  const BenchResults was = results_of(before), is = results_of(after);
  return compare_results(was, is, threshold).comparisons.at(0);
}

TEST(BenchCompare, VerdictsFollowTheChangeAndTheThreshold) {
  const auto before = noisy(1e-3, 0.003, 11, 1);
  const auto verdict = [&](double factor, double threshold) {
    return comparison(before, noisy(1e-3 * factor, 0.003, 11, 2), threshold).verdict;
  };
  EXPECT_EQ(verdict(1, 0.02), Verdict::same);
  EXPECT_EQ(verdict(1.1, 0.02), Verdict::slower);
  EXPECT_EQ(verdict(0.9, 0.02), Verdict::faster);
  EXPECT_EQ(verdict(1.1, 0.2), Verdict::same);
  EXPECT_EQ(verdict(1.02, 0.02), Verdict::unclear) << "just at the threshold";
}

TEST(BenchCompare, ScatterMakesTheSameChangeUnclear) {
  const auto change = [](double noise) {
    return comparison(noisy(1e-3, noise, 5, 3), noisy(1.05e-3, noise, 5, 4)).verdict;
  };
  EXPECT_EQ(change(0.002), Verdict::slower);
  EXPECT_EQ(change(0.2), Verdict::unclear);
}

TEST(BenchCompare, FourSamplesTellNothing) {
  for (const auto& [before, after] :
       {std::pair{std::vector<double>(4, 1.0), std::vector<double>(4, 2.0)},
        {std::vector<double>(30, 1.0), std::vector<double>(4, 2.0)},
        {{1}, {2}}}) {
    const RowComparison found = comparison(before, after);
    EXPECT_EQ(found.verdict, Verdict::unclear);
    EXPECT_THAT(found.why, StartsWith("fewer than 5 samples: measure with --repetitions "));
  }
  const RowComparison five = comparison(five_times(1), five_times(2));
  EXPECT_EQ(five.verdict, Verdict::slower);
  EXPECT_EQ(five.why, "");
}

TEST(BenchCompare, SaysHowManyRepetitionsWouldTell) {
  for (const double noise : {0.02, 0.03}) {
    const auto same = [&](std::size_t samples) {
      return comparison(noisy(1e-3, noise, samples, 3), noisy(1e-3, noise, samples, 4));
    };
    const RowComparison few = same(5);
    ASSERT_EQ(few.verdict, Verdict::unclear);
    const std::size_t at = few.why.find("about ");
    ASSERT_NE(at, std::string::npos) << few.why;
    const int enough = std::stoi(few.why.substr(at + 6));
    EXPECT_GT(enough, 5);
    EXPECT_EQ(same(static_cast<std::size_t>(2 * enough)).verdict, Verdict::same) << few.why;
  }
  const auto wild = noisy(1e-3, 0.5, 5, 3);
  EXPECT_THAT(comparison(wild, wild).why, HasSubstr("no number of repetitions would decide"));
}

TEST(BenchCompare, AFileIsTheSameAsItself) {
  for (const BenchResults& results : {made_results(), repeated(made_results())}) {
    const ComparedResults compared = compare_results(results, results, 0.02);
    ASSERT_EQ(compared.comparisons.size(), 6u);
    for (const auto& each : compared.comparisons) {
      EXPECT_EQ(each.verdict, Verdict::same) << each.before->name << ": " << each.why;
      EXPECT_EQ(each.interval.low, 1);
      EXPECT_EQ(each.interval.high, 1);
    }
  }
}

TEST(BenchCompare, NarrowLinesKeepTheRowTheRatioAndTheVerdict) {
  const BenchResults results = made_results();
  const std::string text = comparison_table(compare_results(results, results, 0.02), 60);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
  EXPECT_THAT(text, HasSubstr("ratio  verdict\n"));
  EXPECT_THAT(text, HasSubstr("SAME"));
}

TEST(BenchCompare, ARowThatIsUnclearSaysWhyAndHowManySamplesItHas) {
  EXPECT_THAT(comparison({1, 1.4, 0.7, 1.1, 0.9}, {1.2, 1.6, 0.8, 1.1, 1.3}).why,
              StartsWith("the samples scatter as much as the change; "));
  EXPECT_THAT(comparison({1, 1.4, 0.7, 1.1, 0.9}, {1, 1.4, 0.7, 1.1, 0.9}).why,
              StartsWith("the interval exceeds the threshold; "));
  EXPECT_THAT(comparison({1, 1, 1, 1, 1}, {1.01, 1.01, 1.012, 1.05, 1.05}).why,
              StartsWith("the change is close to the threshold; "));
  const BenchResults before = results_of({1, 1, 1}), after = results_of({1, 1, 1, 1, 1, 1});
  const ComparedResults compared = compare_results(before, after, 0.02);
  const std::string text = comparison_table(compared);
  EXPECT_THAT(text, HasSubstr("  3, 6  "));
  EXPECT_THAT(text, HasSubstr("UNCLEAR: fewer than 5 samples"));
  const auto row = nlohmann::json::parse(comparison_json(compared))["comparisons"][0];
  EXPECT_THAT(row.at("why").get<std::string>(), StartsWith("fewer than 5 samples"));
  EXPECT_EQ(row.at("old_samples"), 3);
  const BenchResults two = results_of({1, 1});
  const auto none = compare_results(two, two, 0.02);
  EXPECT_THAT(comparison_table(none), HasSubstr("  -    ")) << "no interval";
  EXPECT_TRUE(nlohmann::json::parse(comparison_json(none))["comparisons"][0].at("low").is_null());
}

TEST(BenchCompare, NoiseAloneIsHardlyEverAChange) {
  for (const std::size_t count : {5u, 11u}) {
    int changes = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
      const Verdict verdict =
          comparison(noisy(1, 0.1, count, 2 * seed + 10), noisy(1, 0.1, count, 2 * seed + 11))
              .verdict;
      changes += verdict == Verdict::faster || verdict == Verdict::slower;
    }
    EXPECT_LE(changes, 65) << "of 1000, " << count << " samples; at most 5 %";
  }
}

TEST(BenchCompare, AClockThatChangedCancelsWhereThePeakWasMeasured) {
  const BenchResults before = repeated(made_results());
  BenchResults after = before;
  for (auto& row : after.rows) {
    for (Sample& sample : row.samples) sample.seconds *= 1.3;
  }
  for (const auto& each : compare_results(before, after, 0.02).comparisons) {
    EXPECT_TRUE(each.by_share);
    EXPECT_NEAR(each.ratio, 1, 1e-12);
    const bool scattered = each.before->name == "naive";  // its shares go from 2 to 6 percent
    EXPECT_EQ(each.verdict, scattered ? Verdict::unclear : Verdict::same) << each.before->name;
  }
  std::erase_if(after.rows, [](const BenchRow& row) { return row.kind == Kind::peak; });
  for (const auto& each : compare_results(before, after, 0.02).comparisons) {
    EXPECT_FALSE(each.by_share);
    EXPECT_NEAR(each.ratio, 1 / 1.3, 1e-12);
  }
}

/// One algorithm beside the peak, a second here and there.
BenchResults beside_peak(const std::vector<double>& seconds, const std::vector<double>& peak) {
  BenchResults out = results_of(seconds);
  out.rows.push_back(made_row("peak", Kind::peak, 64, peak));
  return out;
}

TEST(BenchCompare, WhereThePeakWasDisturbedTheTimeCounts) {
  const BenchResults quiet = beside_peak(five_times(3), five_times(2));
  const BenchResults disturbed = beside_peak(five_times(3), {2, 2.9, 2.5, 2, 2.9});
  for (const auto& [before, after] : {std::pair{&quiet, &disturbed}, {&disturbed, &quiet}}) {
    const auto found = compare_results(*before, *after, 0.02).comparisons.at(0);
    EXPECT_FALSE(found.by_share);
    EXPECT_TRUE(found.peak_disturbed);
    EXPECT_NEAR(found.ratio, 1, 1e-12);
    EXPECT_EQ(found.verdict, Verdict::same) << "equally fast, whatever became of the peak";
  }
  EXPECT_TRUE(compare_results(quiet, quiet, 0.02).comparisons.at(0).by_share);
}

TEST(BenchCompare, BesideADisturbedPeakAChangeOfTimeNeedsTheSharesToo) {
  const BenchResults quiet = beside_peak(five_times(3), five_times(2));
  const auto verdict = [&](const std::vector<double>& seconds, const std::vector<double>& peak) {
    const BenchResults now = beside_peak(seconds, peak);
    return compare_results(quiet, now, 0.02).comparisons.at(0).verdict;
  };
  // The peak's spread is 11 percent, its middle where it was: the product alone changed.
  EXPECT_EQ(verdict(five_times(4), {1.8, 2, 2.2, 1.8, 2.2}), Verdict::slower);
  EXPECT_EQ(verdict(five_times(2.5), {1.8, 2, 2.2, 1.8, 2.2}), Verdict::faster);
  // Both a third slower: the clock, or whatever disturbed the peak.
  EXPECT_EQ(verdict(five_times(4), {2.4, 2.67, 2.9, 2.4, 2.9}), Verdict::unclear);
  // The time says slower, the shares say faster.
  EXPECT_EQ(verdict(five_times(4), {3, 3.4, 3.8, 3, 3.8}), Verdict::unclear);
  // No share is known, and the peak beside it says the contrary.
  EXPECT_EQ(verdict(five_times(4), five_times(5)), Verdict::unclear);
}

TEST(BenchCompare, APeakThatHalvedInOneFileJudgesNothing) {
  // All of one file's peak ran on one core instead of two: no sample stands out from the others.
  const BenchResults before = beside_peak(five_times(3), five_times(4)),
                     after = beside_peak(five_times(3), five_times(2));
  const auto found = compare_results(before, after, 0.02).comparisons.at(0);
  EXPECT_TRUE(found.peak_disturbed);
  EXPECT_EQ(found.verdict, Verdict::same) << "in the same time";
}

TEST(BenchCompare, AChangeOfTheShareStandsOnlyWhereTheTimeDoesNotContradict) {
  const BenchResults before = beside_peak(five_times(3), five_times(2));
  const auto found = [&](double seconds, double peak) {
    return compare_results(before, beside_peak(five_times(seconds), five_times(peak)), 0.02)
        .comparisons.at(0);
  };
  EXPECT_EQ(found(3.2, 2).verdict, Verdict::slower);
  EXPECT_EQ(found(3.2, 2.05).verdict, Verdict::slower) << "and the clock is a little slower too";
  EXPECT_EQ(found(2.9, 1.8).verdict, Verdict::unclear) << "the share fell, but so did the time";
  EXPECT_EQ(found(2.9, 1.8).why, "the time contradicts");
  EXPECT_EQ(found(3.1, 2.2).verdict, Verdict::unclear) << "the share rose, but so did the time";
}

TEST(BenchCompare, SharesStandBesideTheSpeedsWhereTheyAreCompared) {
  const BenchResults before = beside_peak(five_times(4), five_times(2));
  const BenchResults after = beside_peak(five_times(8), five_times(3));
  const auto gflops = [](double seconds) {
    return short_number(2.0 * 64 * 64 * 64 / seconds * 1e-9);
  };
  const std::string text = comparison_table(compare_results(before, after, 0.02));
  EXPECT_THAT(text, HasSubstr(cat(gflops(4), " (50.0 %)  ", gflops(8), " (37.5 %)  0.750")));
  EXPECT_THAT(text, HasSubstr("share of peak"));
  const auto document =
      nlohmann::json::parse(comparison_json(compare_results(before, after, 0.02)));
  EXPECT_DOUBLE_EQ(document["comparisons"][0].at("old_percent_of_peak").get<double>(), 50);
  EXPECT_DOUBLE_EQ(document["comparisons"][0].at("new_percent_of_peak").get<double>(), 37.5);

  const BenchResults disturbed = beside_peak(five_times(8), {3, 4, 5, 3, 5});
  const ComparedResults by_time = compare_results(before, disturbed, 0.02);
  EXPECT_THAT(comparison_table(by_time), Not(HasSubstr("(50.0 %)")));
  EXPECT_THAT(comparison_table(by_time),
              HasSubstr("by time because the peak was disturbed: 1 row;"));
  const auto json = nlohmann::json::parse(comparison_json(by_time));
  EXPECT_TRUE(json["comparisons"][0].at("old_percent_of_peak").is_null());
  EXPECT_EQ(json["comparisons"][0].at("peak_disturbed"), true);
}

TEST(BenchCompare, WhatIsNotComparedIsOneLineAndBeginsWithWhatBroke) {
  BenchResults before = made_results(), after = made_results();
  for (int i = 0; i < 20; ++i)
    before.rows.insert(before.rows.begin(), made_row(cat("old", i), Kind::peer, 64, five_times(1)));
  after.rows[1].status = RowStatus::failed;
  const ComparedResults compared = compare_results(before, after, 0.02);
  for (const std::string& text : {comparison_table(compared), comparison_markdown(compared)}) {
    EXPECT_THAT(text,
                HasSubstr("not compared: 21 rows (tiled, f32, 1 thread, 64: is failed; old19"));
    EXPECT_EQ(text.find("not compared"), text.rfind("not compared"));
    EXPECT_THAT(text, Not(HasSubstr("old3,")));
    EXPECT_THAT(text, HasSubstr("; ...)\n"));
  }
  EXPECT_EQ(nlohmann::json::parse(comparison_json(compared)).at("not_compared").size(), 21u);
}

TEST(BenchCompare, RowsOfOneFileOnlyAreNamed) {
  BenchResults before = made_results(), after = made_results();
  after.rows[0].status = RowStatus::refused;
  after.rows.erase(after.rows.begin() + 1);
  after.rows.push_back(made_row("new", Kind::algorithm, 64, five_times(1)));
  EXPECT_THAT(compare_results(before, after, 0.02).left_out,
              ElementsAre("naive, f32, 1 thread, 64: is refused",
                          "tiled, f32, 1 thread, 64: only in the old file",
                          "new, f32, 1 thread, 64: only in the new file"));
}

TEST(BenchCompare, OnlyAlgorithmsDecide) {
  const BenchResults before = repeated(made_results());
  BenchResults after = before;
  for (Sample& sample : after.rows[2].samples) sample.seconds *= 2;  // the peer
  EXPECT_FALSE(any_worse(compare_results(before, after, 0.02)));
  for (Sample& sample : after.rows[1].samples) sample.seconds *= 2;
  EXPECT_TRUE(any_worse(compare_results(before, after, 0.02)));
}

TEST(BenchCompare, AnAlgorithmThatIsWrongNowIsNoSuccess) {
  const BenchResults before = repeated(made_results());
  for (const RowStatus status : {RowStatus::refused, RowStatus::failed}) {
    BenchResults after = before;
    after.rows[2].status = status;  // the peer
    EXPECT_FALSE(any_worse(compare_results(before, after, 0.02)));
    after.rows[1].status = status;
    EXPECT_TRUE(any_worse(compare_results(before, after, 0.02)));
    EXPECT_FALSE(any_worse(compare_results(after, before, 0.02))) << "mended";
  }
  BenchResults skipped = before;
  skipped.rows[1].status = RowStatus::skipped;
  EXPECT_FALSE(any_worse(compare_results(before, skipped, 0.02)));
}

TEST(BenchCompare, MachinesAreToldApartByWhatBothFilesSay) {
  BenchResults before = made_results(), after = made_results();
  EXPECT_EQ(machine_difference(before, after), "");
  after.context["host_name"] = "somewhere";
  EXPECT_EQ(machine_difference(before, after), "") << "the other file leaves its name out";
  after.context["num_cpus"] = 64;
  EXPECT_EQ(machine_difference(before, after), "num_cpus 2 and 64");
}

TEST(BenchCompare, MachinesOfOneModelNameAreToldApartByCachesAndStepping) {
  BenchResults before = made_results(), after = made_results();
  const auto caches = [](index_t first) {
    return nlohmann::ordered_json{
        {{"type", "Data"}, {"level", 1}, {"size", first}, {"num_sharing", 1}},
        {{"type", "Unified"}, {"level", 2}, {"size", 1048576}, {"num_sharing", 1}}};
  };
  before.context["caches"] = caches(49152);
  EXPECT_EQ(machine_difference(before, after), "") << "the other file does not say";
  after.context["caches"] = caches(49152);
  EXPECT_EQ(machine_difference(before, after), "");
  after.context["caches"] = caches(32768);
  EXPECT_EQ(machine_difference(before, after), "caches L1 Data 48.00 KiB and L1 Data 32.00 KiB");
  after.context["caches"] = caches(49152);
  after.context["cpu_stepping"] = "X family 25 model 17 stepping 1";
  EXPECT_EQ(machine_difference(before, after), "");
  before.context["cpu_stepping"] = "X family 26 model 2 stepping 1";
  EXPECT_THAT(machine_difference(before, after), HasSubstr("cpu_stepping \"X family 26"));
  before.context["caches"] = {1, "two", nullptr, {{"level", "x"}}};
  EXPECT_NO_THROW(machine_difference(before, after)) << "of a file that was edited";
}

/// The committed results of two machines that both call themselves AMD EPYC.
TEST(BenchCompare, TheKeptResultsOfTwoMachinesDiffer) {
  const auto root = std::filesystem::absolute(__FILE__).parent_path().parent_path().parent_path();
  const auto kept = [&](const char* machine) {
    const auto path = root / "bench/results/cpu" / (std::string(machine) + ".json");
    BenchResults results = made_results();
    results.context = nlohmann::json::parse(testing::content_of(path.string()));
    return results;
  };
  EXPECT_THAT(machine_difference(kept("zen5"), kept("zen4")), HasSubstr("L1 Data"));
  EXPECT_EQ(machine_difference(kept("zen4"), kept("zen4")), "");
}

TEST(BenchCompare, EveryFormShowsEachRowWithItsInterval) {
  const BenchResults before = repeated(made_results());
  BenchResults after = before;
  after.context["date"] = "2026-11-22T10:00:00+0000";
  const ComparedResults compared = compare_results(before, after, 0.02);
  EXPECT_THAT(comparison_table(compared), HasSubstr("4 SAME, 2 UNCLEAR; threshold 2 %"));
  EXPECT_THAT(comparison_markdown(compared), HasSubstr("| tiled, f32, 1 thread, 128 |"));
  const auto document = nlohmann::json::parse(comparison_json(compared));
  ASSERT_EQ(document.at("comparisons").size(), 6u);
  for (const auto& each : document["comparisons"]) {
    EXPECT_EQ(each.at("verdict"), each.at("contestant") == "naive" ? "UNCLEAR" : "SAME");
    EXPECT_LE(each.at("low"), each.at("ratio"));
    EXPECT_GE(each.at("high"), each.at("ratio"));
    EXPECT_EQ(each.at("old_samples"), 9);
  }
}

}  // namespace
}  // namespace tessera::bench
