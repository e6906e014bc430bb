// The benchmark of a device, on a fake that multiplies on this machine and reports given
// seconds: who takes part, what is verified, whose peak counts, what tables and files say.
#include "bench/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "bench/fake_device.hpp"
#include "bench/run.hpp"
#include "bench/support.hpp"
#include "tessera/core/error.hpp"

namespace tessera::bench {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Kind = Contestant::Kind;
using testing::FakeDevice;

Peer named(const char* name) {
  Peer out;
  out.name = name;
  return out;
}

class BenchOnDevice : public ::testing::Test {
 protected:
  BenchOnDevice() {
    context_.quiet = true;
    settings_.algorithms = {"naive", "tensor_core"};
    settings_.peers = {named("cublas"), named("cublas-tf32")};
    settings_.shapes = {{16, 8, 24}};
    settings_.threads = {1};
    settings_.device = device_;
    settings_.repetitions = 3;
  }
  BenchResults run() {
    Bench bench(context_, settings_, {{"device", device_->description()}, {"cpu_model", "A CPU"}});
    bench.run([](const BenchResults&) {});
    return bench.results();
  }
  static const BenchRow& row_of(const BenchResults& results, const std::string& name) {
    for (const auto& row : results.rows) {
      if (row.name == name) return row;
    }
    throw Error(Category::failed, "no row " + name);
  }

  shell::Context context_;
  BenchSettings settings_;
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
};

TEST_F(BenchOnDevice, EveryoneIsVerifiedAndComparedWithThePeakOfItsUnits) {
  device_->flops_per_second = {{"cublas", 2e9}, {"tensor_core", 8e9}, {"cublas-tf32", 12e9}};
  const BenchResults results = run();
  std::vector<std::string> names;
  for (const auto& row : results.rows) {
    names.push_back(row.name);
    EXPECT_EQ(row.status, RowStatus::verified) << row.name << row.message;
    EXPECT_EQ(row.samples.size(), 3u) << row.name;
    EXPECT_EQ(row.on.device, "cuda:7");
  }
  EXPECT_THAT(names, ElementsAre("naive", "tensor_core", "cublas", "cublas-tf32",
                                 "peak of CUDA cores", "peak of tensor cores"));
  const auto share = [&](const char* name) {
    return figures(results, row_of(results, name)).percent_of_peak.median;
  };
  EXPECT_NEAR(share("naive"), 25, 1e-9);
  EXPECT_NEAR(share("cublas"), 50, 1e-9);
  EXPECT_NEAR(share("tensor_core"), 50, 1e-9);
  EXPECT_NEAR(share("cublas-tf32"), 75, 1e-9);
  EXPECT_NEAR(ratio_to(figures(results, row_of(results, "naive")), "cublas"), 0.5, 1e-9);
  EXPECT_FALSE(peak_disturbed(results, results.rows[0]));
  EXPECT_FALSE(peak_disturbed(results, results.rows[1]));  // faster than the other units' peak
}

TEST_F(BenchOnDevice, WhatAProductTakesByItselfIsAContestant) {
  settings_.algorithms = {"auto"};
  const BenchResults results = run();
  const BenchRow& row = row_of(results, "auto");
  EXPECT_EQ(row.status, RowStatus::verified) << row.message;
  EXPECT_EQ(row.units, kCores);
  EXPECT_NEAR(figures(results, row).percent_of_peak.median, 25, 1e-9);
}

TEST_F(BenchOnDevice, TablesAndFilesNameTheDevice) {
  const BenchResults results = run();
  const CaseTable table = case_table(results, results.rows[0]);
  EXPECT_EQ(table.title, "f32, cuda:7, 16x8x24");
  EXPECT_THAT(table.text, HasSubstr("x cublas-tf32"));
  EXPECT_THAT(table.text, HasSubstr("peak of CUDA cores"));
  EXPECT_THAT(to_markdown(results), HasSubstr("Machine: Test GPU, 4 SMs; A CPU"));
  EXPECT_THAT(to_csv(results), HasSubstr("naive,algorithm,f32,16,8,24,1,NN,0,cuda:7,1,"));
  const BenchResults kept = parse_bench_json(to_json(results), "text");
  ASSERT_EQ(kept.rows.size(), results.rows.size());
  for (std::size_t i = 0; i < kept.rows.size(); ++i) {
    EXPECT_EQ(kept.rows[i].on, results.rows[i].on);
    EXPECT_EQ(kept.rows[i].units, results.rows[i].units);
  }
  EXPECT_EQ(to_markdown(kept), to_markdown(results));
  EXPECT_EQ(json::parse(to_json(results))["benchmarks"][0]["run_name"],
            "naive/f32/16x8x24/cuda:7/threads:1");
  BenchResults processor = results;
  for (auto& row : processor.rows) row.on.device.clear();
  EXPECT_FALSE(same_case(processor.rows[0], results.rows[0]));
}

TEST_F(BenchOnDevice, EverySampleIsWrittenWithTheDevicesClockPowerAndWhatHeldItBack) {
  const BenchResults results = run();
  const json entries = json::parse(to_json(results))["benchmarks"];
  for (const auto& entry : entries) {
    if (entry["kind"] == "peak") continue;
    const double spread = entry.value("aggregate_name", "") == "mad" ? 0 : 1;
    if (entry.value("aggregate_unit", "") == "percentage" ||
        entry.value("aggregate_name", "") == "stddev")
      continue;
    EXPECT_NEAR(entry["sm_clock_mhz"].get<double>(), 1980 * spread, 1e-9);
    EXPECT_NEAR(entry["power_watts"].get<double>(), 650.5 * spread, 1e-9);
    EXPECT_EQ(entry["throttle_reasons"], 4);
  }
  const BenchResults kept = parse_bench_json(to_json(results), "text");
  EXPECT_EQ(row_of(kept, "naive").samples[0].device, device_->state());
}

TEST_F(BenchOnDevice, OperandsAreLoadedOnceForACaseAndTakenInTurn) {
  settings_.shapes = {{16, 8, 24}, {24, 8, 16}};
  run();
  EXPECT_EQ(device_->loads, 2);
  EXPECT_FALSE(device_->loaded);
  for (std::size_t i = 1; i < device_->used.size(); ++i) {
    if (device_->used[i] == device_->used[i - 1]) {
      ADD_FAILURE() << "call " << i << " found the operands of the call before";
      break;
    }
  }
}

TEST_F(BenchOnDevice, AllWarmUpBeforeATurnCounts) {
  const BenchResults results = run();
  std::map<std::string, int> long_runs;
  for (std::size_t i = 0; i < device_->run_names.size(); ++i)
    long_runs[device_->run_names[i]] +=
        device_->run_seconds[i] > 0.9 * kDeviceWarmUp / 6;  // six in a round
  EXPECT_THAT(long_runs, ElementsAre(Pair("cublas", 1), Pair("cublas-tf32", 1), Pair("naive", 1),
                                     Pair("tensor_core", 1)));
  for (const auto& row : results.rows) {
    for (const auto& sample : row.samples) {
      if (row.kind != Kind::peak) {
        EXPECT_LT(sample.seconds * static_cast<double>(sample.iterations), 0.1);
      }
    }
  }
}

TEST_F(BenchOnDevice, WrongResultsAreRefusedAndResultsThatDifferFail) {
  device_->wrong_everywhere = "naive";
  device_->wrong_in_one_set = "cublas";
  const BenchResults results = run();
  EXPECT_EQ(row_of(results, "naive").status, RowStatus::refused);
  EXPECT_THAT(row_of(results, "naive").message, HasSubstr("wrong at (0,0)"));
  EXPECT_THAT(row_of(results, "naive").samples, IsEmpty());
  EXPECT_EQ(row_of(results, "cublas").status, RowStatus::failed);
  EXPECT_THAT(row_of(results, "cublas").message, HasSubstr("sets differ"));
  EXPECT_TRUE(figures(results, row_of(results, "tensor_core")).ratios.size() == 1);
}

TEST_F(BenchOnDevice, WhatIsNotThereIsARowThatSaysSo) {
  settings_.types = {DType::f64, DType::f64};
  settings_.algorithms = {"naive"};
  device_->peaks = {};
  const BenchResults results = run();
  EXPECT_EQ(row_of(results, "cublas-tf32").status, RowStatus::unsupported);
  EXPECT_EQ(row_of(results, "peak of CUDA cores").status, RowStatus::unsupported);
  EXPECT_TRUE(std::isnan(figures(results, row_of(results, "naive")).percent_of_peak.median));
  EXPECT_GT(figures(results, row_of(results, "naive")).gflops, 0);
}

TEST_F(BenchOnDevice, BatchesAreOneCase) {
  settings_.shapes = {{4, 5, 6, 7}};
  const BenchResults results = run();
  EXPECT_EQ(row_of(results, "naive").status, RowStatus::verified);
  EXPECT_EQ(row_of(results, "naive").on.flops(), 2.0 * 4 * 5 * 6 * 7);
}

}  // namespace
}  // namespace tessera::bench
