// The command with results that are kept in files: shown, chosen from and compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "bench/support.hpp"
#include "shell/algorithm_options.hpp"
#include "tessera/core/error.hpp"

namespace tessera::bench {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::content_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using testing::run_bench;
using testing::Scratch;

TEST(Bench, ComparesTwoKeptResults) {
  const Scratch scratch;
  BenchResults results = testing::repeated(testing::made_results());
  const auto keep = [&](const char* name) { std::ofstream(scratch / name) << to_json(results); };
  keep("old.json");
  for (Sample& sample : results.rows[1].samples) sample.seconds *= 0.5;
  keep("fast.json");
  results.context["cpu_model"] = "Another";
  keep("other.json");
  const Ran good = run_bench({"--compare", scratch / "old.json", scratch / "fast.json"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("FASTER"));
  EXPECT_THAT(good.out, HasSubstr("SAME"));
  const Ran bad = run_bench({"--compare", scratch / "fast.json", scratch / "old.json", "--json"});
  EXPECT_EQ(bad.code, 1) << bad.err;
  EXPECT_EQ(json::parse(bad.out).at("comparisons").at(1).at("verdict"), "SLOWER");
  const Ran refused = run_bench({"--compare", scratch / "old.json", scratch / "other.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("different machines"));
  const Ran forced = run_bench({"--compare", scratch / "old.json", scratch / "other.json",
                                "--other-machine", "--markdown", "--threshold", "60"});
  EXPECT_EQ(forced.code, 0) << forced.err;
  EXPECT_THAT(forced.err, HasSubstr("different machines"));
  EXPECT_THAT(forced.out, HasSubstr("| tiled, f32, 1 thread, 64 |"));
  for (auto& row : results.rows) row.on.threads = 7;
  keep("apart.json");
  const Ran nothing = run_bench({"--compare", scratch / "other.json", scratch / "apart.json"});
  EXPECT_EQ(nothing.code, 3) << "nothing compared is no success";
  EXPECT_THAT(nothing.err, HasSubstr("no row was measured in both files"));
}

TEST(Bench, AComparisonIsWrittenOfThoseThatAreNamed) {
  const Scratch scratch;
  std::ofstream(scratch / "r.json") << to_json(testing::repeated(testing::made_results()));
  const std::vector<std::string> compare = {"--compare", scratch / "r.json", scratch / "r.json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), compare.begin(), compare.end());
    return run_bench(more);
  };
  const Ran ran = with({"--algorithms", "tiled", "--peers", "none", "-o", scratch / "c.json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("tiled, f32, 1 thread, 128"));
  EXPECT_THAT(ran.out, Not(AnyOf(HasSubstr("naive"), HasSubstr("blas"))));
  const json written = json::parse(content_of(scratch / "c.json"));
  EXPECT_EQ(written.at("comparisons").size(), 2u);
  EXPECT_EQ(with({"--json", "--algorithms", "tiled", "--peers", "none"}).out,
            content_of(scratch / "c.json"));
  const Ran markdown = with({"--markdown", "--peers", "blas", "-o", scratch / "c.md"});
  EXPECT_EQ(markdown.out, content_of(scratch / "c.md"));
  EXPECT_THAT(markdown.out, AllOf(HasSubstr("| naive, "), HasSubstr("| blas, ")));
  EXPECT_EQ(with({"-o", scratch / "c.md"}).code, 2) << "it exists";
}

TEST(Bench, WhatKeptResultsWouldIgnoreIsRefused) {
  const Scratch scratch;
  std::ofstream(scratch / "r.json") << to_json(testing::repeated(testing::made_results()));
  const std::string r = scratch / "r.json", o = scratch / "o.svg";
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--from", r, "--compare", r, r}, "--from and --compare given: expected one of them"},
      {{"--from", r, "--sizes", "512", "--dtype", "f64", "--threads", "7"},
       "--from measures nothing and does not accept --sizes, --dtype, --threads"},
      {{"--from", r, "-m", "8"}, "does not accept -m"},
      {{"--from", r, "--threshold", "3"}, "does not accept --threshold"},
      {{"--compare", r, r, "--plot", o}, "--compare measures nothing and does not accept --plot"},
      {{"--compare", r, r, "--suite", "tiny"}, "does not accept --suite"},
      {{"--compare", r, r, "-o", scratch / "o.csv"}, "a comparison has no CSV"},
      {{"--from", r, "--peers", "nosuch"}, "no peer 'nosuch' in '"},
      {{"--from", r, "--peers", "bles"}, "did you mean 'blas'?"},
      {{"--from", r, "--algorithms", "tiled,packed"}, "no algorithm 'packed' in '"},
      {{"--compare", r, r, "--algorithms", "packed"}, "expected one of naive, tiled"},
      {{"--threshold", "3", "--sizes", "8"}, "--threshold is for --compare"},
      {{"--other-machine"}, "--other-machine is for --compare"}};
  for (const auto& [arguments, says] : refused) {
    const Ran ran = run_bench(arguments);
    EXPECT_EQ(ran.code, 2) << says;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(o));
}

TEST(Bench, AFileWithoutRowsIsNoResult) {
  const Scratch scratch;
  BenchResults results = testing::made_results();
  results.rows.clear();
  std::ofstream(scratch / "r.json") << to_json(results);
  const Ran ran = run_bench({"--from", scratch / "r.json", "--plot", scratch / "p.svg"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("contains no row of results"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "p.svg"));
}

/// A settings file applies to measuring; stored results are shown regardless of it.
TEST(Bench, SettingsInAFileDoNotStandInTheWayOfKeptResults) {
  const Scratch scratch;
  std::ofstream(scratch / "r.json") << to_json(testing::made_results());
  std::ofstream(scratch / "s.toml") << "threads = 1\n[bench]\npeers = \"nosuch\"\nsizes = \"8\"\n";
  const Ran plain = run_bench({"--from", scratch / "r.json"});
  const Ran ran = run_bench({"--from", scratch / "r.json", "--config", scratch / "s.toml"});
  EXPECT_EQ(ran.code, plain.code) << ran.err;
  EXPECT_EQ(ran.out, plain.out);
  std::ofstream(scratch / "p.toml") << "[bench]\nplot = \"" << scratch / "p.svg"
                                    << "\"\n";
  const Ran compared = run_bench(
      {"--compare", scratch / "r.json", scratch / "r.json", "--config", scratch / "p.toml"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "p.svg"));
}

TEST(Bench, KeptResultsAreShownOfThoseThatAreNamed) {
  const Scratch scratch;
  std::ofstream(scratch / "r.json") << to_json(testing::made_results());
  const Ran ran = run_bench(
      {"--from", scratch / "r.json", "--algorithms", "tiled", "--peers", "none", "--markdown"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("| tiled | 5.24 (10.0 %) | 5.24 (10.0 %) |"));
  EXPECT_THAT(ran.out, HasSubstr("measured peak"));
  EXPECT_THAT(ran.out, Not(HasSubstr("naive")));
  EXPECT_THAT(ran.out, Not(HasSubstr("blas")));
  EXPECT_THAT(run_bench({"--from", scratch / "r.json", "--peers", "blas"}).out,
              Not(HasSubstr("broken")));
}

TEST(Bench, WhatOnlyLaterSizesShowOfThePeakIsSaidBehindTheTables) {
  const Scratch scratch;
  BenchResults results = testing::made_results();
  for (Sample& sample : results.rows[3].samples) sample.seconds *= 2;
  std::ofstream(scratch / "r.json") << to_json(results);
  const Ran ran = run_bench({"--from", scratch / "r.json"});
  EXPECT_THAT(ran.out, HasSubstr("f32, 1 thread: At 64 the peak was disturbed"));
}

}  // namespace
}  // namespace tessera::bench
