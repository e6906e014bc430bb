// What a GPU counted against what the checker counts, as soon as there are such files; until then
// the comparison itself, on a file made here.
#include "check/gpu_truth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

namespace tessera::gpu_truth {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

fs::path checkout() { return fs::path(__FILE__).parent_path().parent_path().parent_path(); }

json synthetic() {
  return json::parse(R"({"device": "none", "capability": 90, "date": "2026-01-01", "tools": {},
    "kernels": [{"kernel": "tiled", "dtype": "f32", "m": 9, "n": 9, "k": 9, "tile": "3x3x3",
                 "metrics": {"smsp__sass_inst_executed_op_global_ld.sum": 54,
                             "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 31,
                             "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 729},
                 "sanitizer": {"memcheck": 0, "racecheck": 0}}],
    "patterns": [{"name": "broadcast", "memory": "shared", "operation": "store", "lane_bytes": 4,
                  "lanes": [0, 0, -1, 0], "transfers": 1},
                 {"name": "rows", "memory": "global", "operation": "load", "lane_bytes": 4,
                  "lanes": [0, 4096, 8192], "transfers": 3}]})");
}

Comparison compared(const json& document) {
  const fs::path file = fs::path(testing::TempDir()) / "gpu_truth.json";
  std::ofstream(file) << document;
  return compare_file(file.string());
}

TEST(GpuTruth, AFileThatAgreesHasNoDifferences) {
  const Comparison found = compared(synthetic());
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_THAT(found.explained, IsEmpty());
}

TEST(GpuTruth, EveryDifferenceIsNamed) {
  json wrong = synthetic();
  json& kernel = wrong["kernels"][0];
  kernel["metrics"]["smsp__sass_inst_executed_op_global_ld.sum"] = 27;
  kernel["metrics"]["something_else"] = 1;
  kernel["by_line"] = {
      {{"file", "tiled.hpp"}, {"line", 1}, {"metrics", {{"memory_l1_wavefronts_shared", 5}}}}};
  kernel["sanitizer"]["racecheck"] = 3;
  wrong["patterns"][1]["transfers"] = 2;
  EXPECT_THAT(compared(wrong).differences,
              ElementsAre(HasSubstr("op_global_ld.sum is 27 on the GPU, 54 by the checker"),
                          HasSubstr("no counter for something_else"),
                          HasSubstr("line 1: memory_l1_wavefronts_shared is 5 on the GPU, 0"),
                          HasSubstr("racecheck counts 3 errors, we count 0"),
                          HasSubstr("pattern rows: transfers is 2 on the GPU, 3 by the checker")));
}

TEST(GpuTruth, ADifferenceWithAReasonIsNoFailure) {
  json merged = synthetic();
  const char* loads = "smsp__sass_inst_executed_op_global_ld.sum";
  merged["kernels"][0]["metrics"][loads] = 27;
  merged["kernels"][0]["explained"] = {{loads, "two loads became one"}};
  const Comparison found = compared(merged);
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_THAT(found.explained, ElementsAre(HasSubstr("54 by the checker: two loads became one")));
}

TEST(GpuTruth, TheCheckerCountsWhatTheGpuCounted) {
  const fs::path folder = checkout() / "bench/results/gpu";
  int files = 0;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.path().filename().string().ends_with("-truth.json")) continue;
      ++files;
      const Comparison found = compare_file(entry.path().string());
      EXPECT_THAT(found.differences, IsEmpty()) << entry.path();
      for (const auto& line : found.explained) std::cout << "explained: " << line << "\n";
    }
  }
  if (files == 0)
    GTEST_SKIP() << "UNMEASURED: the counters are not compared with a GPU, bench/results/gpu has "
                    "no *-truth.json";
}

}  // namespace
}  // namespace tessera::gpu_truth
