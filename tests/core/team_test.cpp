// The team of threads: every item once, no worker inside after the call, and no caller delayed or
// blocked, nested or with many others.
#include "tessera/core/team.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/team_calls.hpp"
#include "support/child.hpp"
#include "support/process.hpp"
#include "support/sanitizers.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using testing::Clock;
using testing::get_a_worker;
using testing::in_child;
using testing::kLong;
using testing::kThreadSanitizer;
using testing::repetitions;
using testing::run_pieces;

TEST(UsefulThreads, AreNoMoreThanCoresButTwo) {
  EXPECT_EQ(useful_threads(1), 1);
  EXPECT_EQ(useful_threads(2), 2);
  EXPECT_EQ(useful_threads(kMostThreads), std::max(2, available_cores()));
}

TEST(Team, DoesEveryPieceExactlyOnce) {
  for (const int threads : {1, 2, 3, 5, 40}) {
    for (const std::int64_t expected_ns : {std::int64_t{0}, std::int64_t{2000}, kLong}) {
      for (const int pieces : {0, 1, 2, 7, 500})
        ASSERT_EQ(run_pieces(threads, pieces, expected_ns), "") << threads << " " << pieces;
    }
  }
}

TEST(Team, AsksNobodyForOneThread) {
  for (const int threads : {-1, 0, 1}) {
    int calls = 0;  // not atomic: only the caller may come
    const auto caller = std::this_thread::get_id();
    run_team(threads, kLong, [&](int worker) {
      ++calls;
      EXPECT_EQ(worker, 0);
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
    EXPECT_EQ(calls, 1);
  }
}

TEST(Team, AsksNobodyForLessWorkThanHandingItOverTakes) {
  ASSERT_EQ(get_a_worker(), "");  // who spins for more now
  const auto caller = std::this_thread::get_id();
  for (int n = 0; n < repetitions(1000); ++n) {
    EXPECT_FALSE(workers_would_join(2, 500));
    int calls = 0;
    run_team(2, 500, [&](int) {
      ++calls;
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
    ASSERT_EQ(calls, 1);
  }
}

/// Workers that come too late, or not at all, make a caller of little work go alone, and then ask
/// again, less and less often: whichever worker runs, every item is done once.
TEST(Team, WhatItLearnsOfWorkersLosesNoPiece) {
  ASSERT_EQ(get_a_worker(), "");
  for (int n = 0; n < repetitions(20000); ++n) ASSERT_EQ(run_pieces(2, 2, 1500), "") << n;
  ASSERT_EQ(get_a_worker(), "") << "much work is always shared";
}

/// As where another process has the worker's core: little work is done alone, although a worker is
/// awake; much is still shared.
TEST(Team, AWorkerThatHoldsItsCallerUpIsNotAskedForAWhile) {
  constexpr std::int64_t one_ms = 1'000'000;
  const auto worker_came = [](milliseconds stays, int ms_to_come) {
    std::atomic<bool> came{false};
    run_team(2, one_ms, [&](int worker) {
      if (worker != 0) {
        came = true;
        std::this_thread::sleep_for(stays);
      }
      for (int i = 0; worker == 0 && i < ms_to_come && !came.load(); ++i)
        std::this_thread::sleep_for(milliseconds(1));
    });
    return came.load();
  };
  // Until what workers have gained in the tests before is used up.
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (workers_would_join(2, one_ms) && Clock::now() < deadline)
    worker_came(milliseconds(40), 20);
  for (int n = 0; n < 20; ++n) EXPECT_FALSE(worker_came(milliseconds(0), 2)) << n;
  EXPECT_FALSE(workers_would_join(2, one_ms));
  EXPECT_TRUE(workers_would_join(2, kLong)) << "sharing saves more than such a worker costs";
  EXPECT_EQ(get_a_worker(), "");
}

TEST(Team, WorkersCome) { EXPECT_EQ(get_a_worker(), ""); }

TEST(Team, LatecomersAreLockedOut) {
  ASSERT_EQ(get_a_worker(), "");
  // Calls too short to be joined in time: whoever runs a body must find its call still going on.
  std::atomic<int> current{0}, late{0};
  for (int call = 1; call <= repetitions(20'000); ++call) {
    current.store(call);
    run_team(4, kLong, [&, call](int) {
      if (current.load() != call) late.fetch_add(1);
    });
    current.store(0);
  }
  EXPECT_EQ(late.load(), 0);
}

TEST(Team, TheCallEndsWhenTheLastWorkerHasLeft) {
  ASSERT_EQ(get_a_worker(), "");
  for (int call = 0; call < 20; ++call) {
    auto entered = std::make_unique<std::atomic<int>>(0),
         left = std::make_unique<std::atomic<int>>(0);
    run_team(4, kLong, [&](int worker) {
      ++*entered;
      std::this_thread::sleep_for(milliseconds(worker == 0 ? 2 : 5));
      ++*left;
    });
    EXPECT_EQ(entered->load(), left->load());
  }
}

TEST(Team, WhatWorkersWroteIsVisible) {
  for (int call = 0; call < 200; ++call) {
    std::vector<int> squares(200, -1);
    std::atomic<int> next{0};
    run_team(4, kLong, [&](int) {
      for (int i; (i = next.fetch_add(1)) < 200;) squares[static_cast<std::size_t>(i)] = i * i;
    });
    for (int i = 0; i < 200; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i);
  }
}

TEST(Team, WorkersThatSleptComeAgain) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(get_a_worker(), "");
    std::this_thread::sleep_for(milliseconds(50));
    ASSERT_EQ(run_pieces(2, 100, 0), "");
  }
}

/// As on a processor that is a quarter as fast as expected: such calls seem to lie far apart, and
/// each is longer than a worker that was woken spins.
TEST(Team, SleepersComeToCallsThatTakeLongerThanExpected) {
  constexpr std::int64_t expected_ns = 100'000;
  ASSERT_EQ(get_a_worker(), "");
  std::this_thread::sleep_for(milliseconds(5));
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  for (std::atomic<bool> came{false}; !came.load();) {
    ASSERT_LT(Clock::now(), deadline) << "no worker came";
    run_team(2, expected_ns, [&](int worker) {
      if (worker != 0) came = true;
      const auto until = Clock::now() + std::chrono::nanoseconds(4 * expected_ns);
      while (worker == 0 && Clock::now() < until) relax(0);
    });
  }
}

TEST(Team, CallsFromInsideABodyRunAlone) {
  std::atomic<int> inner_calls{0}, bodies{0}, others{0};
  run_team(4, kLong, [&](int) {
    bodies.fetch_add(1);
    for (int i = 0; i < 10; ++i) {
      inner_calls.fetch_add(1);
      run_team(4, kLong, [&, me = std::this_thread::get_id()](int worker) {
        inner_calls.fetch_sub(1);
        if (worker != 0 || std::this_thread::get_id() != me) others.fetch_add(1);
      });
    }
  });
  EXPECT_GE(bodies.load(), 1);
  EXPECT_EQ(inner_calls.load(), 0);
  EXPECT_EQ(others.load(), 0);
  EXPECT_EQ(run_pieces(4, 100), "") << "after nested calls";
}

TEST(Team, TwoHundredCallersAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 200; ++caller) {
    callers.emplace_back([&, caller] {
      for (int call = 0; call < repetitions(200); ++call)
        wrong += !run_pieces(2 + caller % 4, 8, call % 2 == 0 ? 0 : kLong).empty();
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Team, CallersThatEndTheirThreadLeaveNoneBehind) {
  ASSERT_EQ(run_pieces(3, 100), "");
  const int before = testing::count_threads();
  for (int life = 0; life < 100; ++life)
    std::thread([] { EXPECT_EQ(run_pieces(3, 20), ""); }).join();
  EXPECT_EQ(testing::count_threads(), before);
}

TEST(Team, NoMoreWorkersThanAskedFor) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(10,
                     [] {
                       for (int call = 0; call < 100; ++call) run_pieces(3, 20);
                       const int threads = testing::count_threads();
                       return threads <= 3 ? "" : cat(threads, " threads");
                     }),
            "");
}

}  // namespace
}  // namespace tessera
