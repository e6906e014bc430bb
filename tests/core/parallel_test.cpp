#include "tessera/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tessera {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (const int threads : {0, 1, 2, 3, 17}) {
    for (const index_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](index_t i) { ++calls.at(static_cast<std::size_t>(i)); });
      for (const auto& each : calls) ASSERT_EQ(each.load(), 1) << threads << " " << count;
    }
  }
}

TEST(ParallelFor, NegativeCountDoesNothing) {
  parallel_for(-3, 4, [](index_t) { FAIL(); });
}

TEST(ParallelFor, OneThreadIsTheCaller) {
  const auto caller = std::this_thread::get_id();
  parallel_for(50, 1, [&](index_t) { ASSERT_EQ(std::this_thread::get_id(), caller); });
}

TEST(ParallelFor, UsesAtMostTheThreadsAskedFor) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(200, 3, [&](index_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_GE(seen.size(), 1u);
  EXPECT_LE(seen.size(), 3u);
}

TEST(ParallelFor, ThrowsTheFirstExceptionAgainAndStops) {
  std::atomic<int> calls{0};
  try {
    parallel_for(1'000'000, 2, [&](index_t i) {
      ++calls;
      if (i == 5) throw std::runtime_error("piece 5");
    });
    FAIL() << "the exception was lost";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "piece 5");
  }
  EXPECT_LT(calls.load(), 1'000'000);
}

TEST(ParallelFor, EveryPieceThrowingIsStillOneException) {
  EXPECT_THROW(parallel_for(100, 4, [](index_t) { throw 7; }), int);
}

TEST(ParallelFor, Nests) {
  std::atomic<int> calls{0};
  parallel_for(4, 2, [&](index_t) { parallel_for(25, 2, [&](index_t) { ++calls; }); });
  EXPECT_EQ(calls.load(), 100);
}

TEST(ParallelFor, WorkIsVisibleAfterwards) {
  std::vector<index_t> squares(10'000);
  parallel_for(10'000, 4, [&](index_t i) { squares[static_cast<std::size_t>(i)] = i * i; });
  for (index_t i = 0; i < 10'000; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i);
}

TEST(Cores, ThereIsAtLeastOne) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_GE(default_threads(), 1);
}

}  // namespace
}  // namespace tessera
