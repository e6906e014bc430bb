// Results as JSON: what is written is read back, and what is damaged is refused.
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
using ::testing::HasSubstr;
using testing::made_results;
using testing::xml_fault;

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
      EXPECT_EQ(a.samples[s].round, b.samples[s].round);
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

}  // namespace
}  // namespace tessera::bench
