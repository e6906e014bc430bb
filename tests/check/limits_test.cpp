// What a check costs and when it gives up: events of a kernel without barriers are kept in bounded
// memory and counted as if they were all kept, a slow kernel is no endless one.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "support/sanitizers.hpp"
#include "tessera/check/check.hpp"
#include "tessera/check/format.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {
namespace {

/// Thread t reads `rounds` + t elements, without a barrier; every third element twice.
struct Reader {
  static constexpr const char* name = "reader";
  static constexpr Dim3 block{64};
  index_t rounds;
  void operator()(auto t, auto A, auto C) const {
    float sum = 0;
    for (index_t i = 0; i < rounds + t.thread; ++i) {
      if (t.thread % 3 == 0) sum += A(0, t.thread);
      sum += A(0, i % extent<1>(A));
    }
    C(0, t.thread) = sum;
  }
};

check::Report read(index_t rounds, ThreadOrder order = ThreadOrder::forward) {
  const std::vector<float> a(64, 1);
  std::vector<float> c(64);
  return check::check({.threads = 1, .order = order}, Dim3{1}, Reader{rounds},
                      Tensor<const float*, row_major(1, 64)>(a.data()),
                      Tensor<float*, row_major(1, 64)>(c.data()));
}

TEST(EventLog, LongLoopsAreAlignedAsIfAllEventsWereKept) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    for (const index_t rounds : {10, 255, 256, 257, 5000}) {
      const check::Counters c = read(rounds, order).total;
      // Two warps; the lanes that have more rounds stay alone in the last ones.
      const index_t first = 2 * rounds + 31 + 63;
      const index_t again = 2 * rounds + 30 + 63;  // the last lanes with a multiple of three
      EXPECT_EQ(c.global_load_requests, first + again) << rounds;
      EXPECT_EQ(c.partial_requests, again + 31 + 31) << rounds;
      EXPECT_EQ(c.global_load_bytes, 4 * (64 * rounds + 2016 + 22 * rounds + 693)) << rounds;
      EXPECT_EQ(c.global_store_requests, 2);
    }
  }
}

long peak_kib() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss;
}

TEST(EventLog, MemoryDoesNotGrowWithTheNumberOfAccesses) {
  if (testing::kSanitized) GTEST_SKIP() << "NOT tested: a sanitizer's memory grows by itself";
  read(1000);
  const long before = peak_kib();
  read(40000);  // 3.4 million accesses, 110 MB as events
  EXPECT_LT(peak_kib() - before, 4 * 1024);
}

/// Never waits for its copies, and keeps reading what no thread has written.
struct Forgetful {
  static constexpr const char* name = "forgetful";
  static constexpr Dim3 block{32};
  struct Shared {
    Tile<float, 32, 1> a, b;
  };
  int rounds;
  void operator()(auto t, auto A) const {
    auto& s = shared<Shared>(t);
    for (int i = 0; i < rounds; ++i) {
      copy_async(t, A, s.a.view());
      commit(t);
      [[maybe_unused]] const float nothing = s.b(t.thread, 0);
    }
  }
};

TEST(EventLog, DefectsThatAreRepeatedTakeNoMemoryEither) {
  if (testing::kSanitized) GTEST_SKIP() << "NOT tested: a sanitizer's memory grows by itself";
  const std::vector<float> a(32, 1);
  const auto checked = [&](int rounds) {
    return check::check({.threads = 1}, Dim3{1}, Forgetful{rounds},
                        Tensor<const float*, row_major(32, 1)>(a.data()));
  };
  checked(100);
  const long before = peak_kib();
  const check::Report report = checked(30000);  // a million of each
  EXPECT_LT(peak_kib() - before, 4 * 1024);
  EXPECT_EQ(report.summary.errors, 2) << check::to_text(report, check::device_model("h200"));
  for (const auto& f : report.findings) {
    const bool is_read = f.kind == check::Kind::uninitialized_read;
    EXPECT_EQ(f.count, is_read ? 32 * 30000 : 32);
  }
}

/// Takes a while for each block, and comes to an end.
struct Slow {
  static constexpr const char* name = "slow";
  static constexpr Dim3 block{4};
  void operator()(auto t, auto C) const {
    if (t.thread == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    C(t.block, t.thread) = 1;
  }
};

TEST(TimeLimit, ASlowKernelIsIncompleteAndNotEndless) {
  std::vector<float> c(4 * 1000);
  const check::Report report = check::check({.threads = 2, .time_limit_s = 0.2}, Dim3{1000}, Slow{},
                                            tensor<kRowMajorMatrix>(c.data(), 1000, 4, 4));
  const check::Summary& s = report.summary;
  EXPECT_TRUE(report.findings.empty()) << check::to_text(report, check::device_model("h200"));
  EXPECT_TRUE(s.timed_out);
  EXPECT_FALSE(s.clean);
  EXPECT_GT(s.checked_blocks, 2);
  EXPECT_LT(s.checked_blocks, 1000);
  EXPECT_EQ(s.incomplete, cat("time limit of 0.2 s reached after ", s.checked_blocks,
                              " of 1000 blocks: raise --time-limit, or --blocks N for a sample"));
  EXPECT_EQ(check::exit_code(s), 4);
  EXPECT_EQ(check::summary_line(report), "could not check: " + s.incomplete);
  EXPECT_NE(
      check::to_json(report, check::device_model("h200")).find("\"incomplete\": \"time limit"),
      std::string::npos);
}

TEST(TimeLimit, WhatIsReachedInTimeIsClean) {
  std::vector<float> c(4 * 4);
  const check::Report report = check::check({.time_limit_s = 60}, Dim3{4}, Slow{},
                                            tensor<kRowMajorMatrix>(c.data(), 4, 4, 4));
  EXPECT_TRUE(report.summary.clean);
  EXPECT_FALSE(report.summary.timed_out);
  EXPECT_EQ(check::exit_code(report.summary), 0);
}

/// Thread 2 of block 3 does not come to an end.
struct OneRunsOn {
  static constexpr const char* name = "one_runs_on";
  static constexpr Dim3 block{4};
  void operator()(auto t, auto C) const {
    C(t.block, t.thread) = 1;
    while (t.block == 3 && t.thread == 2) C(t.block, t.thread) = 2;
  }
};

TEST(TimeLimit, AnEndlessThreadIsNamedWithItsPlace) {
  std::vector<float> c(4 * 8);
  const check::Report report =
      check::check({.threads = 2, .time_limit_s = 0.3}, Dim3{8}, OneRunsOn{},
                   tensor<kRowMajorMatrix>(c.data(), 8, 4, 4));
  ASSERT_EQ(report.summary.errors, 1) << check::to_text(report, check::device_model("h200"));
  const check::Finding& f = report.findings.front();
  EXPECT_EQ(f.kind, check::Kind::endless);
  EXPECT_EQ(f.block.linear, 3);
  ASSERT_EQ(f.threads.size(), 1u);
  EXPECT_EQ(f.threads[0].linear, 2);
  EXPECT_GT(f.location.line, 0);
  EXPECT_NE(f.problem.find("thread (2,0,0) does not come to an end"), std::string::npos)
      << f.problem;
  EXPECT_TRUE(report.summary.incomplete.empty());
  EXPECT_EQ(check::exit_code(report.summary), 1);
}

/// Polls so often, and then gives up: which is no deadlock.
struct GivesUpAfterAWhile {
  static constexpr const char* name = "gives_up";
  static constexpr Dim3 block{32};
  int most;
  void operator()(auto t, auto flag, auto C) const {
    int looks = 0;
    while (t.atomic_load(flag(0, 0)) == 0 && looks < most) ++looks;
    C(0, t.thread) = static_cast<float>(looks);
  }
};

TEST(Polls, ALoopThatGivesUpIsNoDeadlock) {
  std::vector<int> flag(1);
  std::vector<float> c(32);
  const auto report = check::check({}, Dim3{1}, GivesUpAfterAWhile{100'000},
                                   Tensor<int*, row_major(1, 1)>(flag.data()),
                                   Tensor<float*, row_major(1, 32)>(c.data()));
  EXPECT_TRUE(report.summary.clean) << check::to_text(report, check::device_model("h200"));
  EXPECT_EQ(c, std::vector<float>(32, 100'000));
}

TEST(Polls, ALoopThatGivesUpIsNoDeadlockInAFileForTheCheckerThatRunsWithoutIt) {
  std::vector<int> flag(1);
  std::vector<float> c(32);
  launch(Dim3{1}, GivesUpAfterAWhile{100'000}, Tensor<int*, row_major(1, 1)>(flag.data()),
         Tensor<float*, row_major(1, 32)>(c.data()));
  EXPECT_EQ(c, std::vector<float>(32, 100'000));
}

}  // namespace
}  // namespace tessera
