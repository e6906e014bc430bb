// The team of threads: every piece once, nobody inside after the call, and no caller held up or
// hung by what a process may do: nesting, crowds of callers, fork, signals, small stacks, no more
// threads.
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

#include "support/child.hpp"
#include "support/process.hpp"
#include "support/sanitizers.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using testing::in_child;
using testing::kThreadSanitizer;
using testing::repetitions;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLong = 1'000'000'000;  // ns: worth waking everybody

/// Hands out `pieces` to a team; "" if each was done exactly once, by workers with different
/// numbers below `threads`.
std::string run_pieces(int threads, int pieces, std::int64_t expected_ns = kLong,
                       milliseconds each = milliseconds(0)) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
  std::vector<std::atomic<int>> workers(static_cast<std::size_t>(threads));
  std::atomic<int> next{0}, inside{0}, strangers{0};
  run_team(threads, expected_ns, [&](int worker) {
    inside.fetch_add(1);
    if (worker < 0 || worker >= threads) strangers.fetch_add(1);
    else workers[static_cast<std::size_t>(worker)].fetch_add(1);
    for (int i; (i = next.fetch_add(1)) < pieces;) {
      if (each.count() > 0) std::this_thread::sleep_for(each);
      done[static_cast<std::size_t>(i)].fetch_add(1);
    }
    inside.fetch_sub(1);
  });
  if (inside.load() != 0) return cat(inside.load(), " still inside after the call");
  if (strangers.load() != 0) return "a worker's number is out of range";
  for (const auto& worker : workers)
    if (worker.load() > 1) return "two workers have one number";
  for (const auto& piece : done)
    if (piece.load() != 1) return cat("a piece was done ", piece.load(), " times");
  return "";
}

/// Calls until a helper has come, for at most ten seconds: "" or what went wrong.
std::string get_a_helper() {
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  for (std::atomic<bool> came{false}; !came.load();) {
    if (Clock::now() > deadline) return "no helper came in ten seconds";
    run_team(2, kLong, [&](int worker) {
      if (worker != 0) came = true;
      else
        for (int i = 0; i < 100 && !came.load(); ++i) std::this_thread::sleep_for(milliseconds(1));
    });
  }
  return "";
}

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
  ASSERT_EQ(get_a_helper(), "");  // who looks around for more now
  const auto caller = std::this_thread::get_id();
  for (int n = 0; n < repetitions(1000); ++n) {
    EXPECT_FALSE(will_be_helped(2, 500));
    int calls = 0;
    run_team(2, 500, [&](int) {
      ++calls;
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
    ASSERT_EQ(calls, 1);
  }
}

/// Helpers that come too late, or not at all, make a caller of little work go alone, and then ask
/// again, less and less often: whoever is asked, every piece is done once.
TEST(Team, WhatItLearnsOfHelpersLosesNoPiece) {
  ASSERT_EQ(get_a_helper(), "");
  for (int n = 0; n < repetitions(20000); ++n) ASSERT_EQ(run_pieces(2, 2, 1500), "") << n;
  ASSERT_EQ(get_a_helper(), "") << "much work is always shared";
}

/// As where another process has the helper's core: little work is done alone, although a helper is
/// awake; much is still shared.
TEST(Team, AHelperThatHoldsItsCallerUpIsNotAskedForAWhile) {
  constexpr std::int64_t one_ms = 1'000'000;
  const auto helper_came = [](milliseconds stays, int ms_to_come) {
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
  // Until what helpers have gained in the tests before is used up.
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (will_be_helped(2, one_ms) && Clock::now() < deadline) helper_came(milliseconds(40), 20);
  for (int n = 0; n < 20; ++n) EXPECT_FALSE(helper_came(milliseconds(0), 2)) << n;
  EXPECT_FALSE(will_be_helped(2, one_ms));
  EXPECT_TRUE(will_be_helped(2, kLong)) << "sharing saves more than such a helper costs";
  EXPECT_EQ(get_a_helper(), "");
}

TEST(Team, HelpersCome) { EXPECT_EQ(get_a_helper(), ""); }

TEST(Team, LatecomersAreLockedOut) {
  ASSERT_EQ(get_a_helper(), "");
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

TEST(Team, TheCallEndsWhenTheLastHelperHasLeft) {
  ASSERT_EQ(get_a_helper(), "");
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

TEST(Team, WhatHelpersWroteIsVisible) {
  for (int call = 0; call < 200; ++call) {
    std::vector<int> squares(200, -1);
    std::atomic<int> next{0};
    run_team(4, kLong, [&](int) {
      for (int i; (i = next.fetch_add(1)) < 200;) squares[static_cast<std::size_t>(i)] = i * i;
    });
    for (int i = 0; i < 200; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i);
  }
}

TEST(Team, HelpersThatSleptComeAgain) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(get_a_helper(), "");
    std::this_thread::sleep_for(milliseconds(50));
    ASSERT_EQ(run_pieces(2, 100, 0), "");
  }
}

/// As on a processor that is a quarter as fast as expected: such calls seem to lie far apart, and
/// each is longer than a helper that was woken looks around.
TEST(Team, SleepersComeToCallsThatTakeLongerThanExpected) {
  constexpr std::int64_t expected_ns = 100'000;
  ASSERT_EQ(get_a_helper(), "");
  std::this_thread::sleep_for(milliseconds(5));
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  for (std::atomic<bool> came{false}; !came.load();) {
    ASSERT_LT(Clock::now(), deadline) << "no helper came";
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

TEST(Team, NoMoreHelpersThanAskedFor) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(10,
                     [] {
                       for (int call = 0; call < 100; ++call) run_pieces(3, 20);
                       const int threads = testing::count_threads();
                       return threads <= 3 ? "" : cat(threads, " threads");
                     }),
            "");
}

TEST(Team, WhoeverOnlyAsksIsToldOfTheNextCallAndChangesNothing) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(10,
                     [] {
                       constexpr std::int64_t little =
                           50'000;  // worth waking for in the third call
                       std::string said;
                       for (int call = 0; call < 3; ++call) {
                         for (int n = 0; n < 5; ++n) {
                           const OnlyAsking asks;
                           said += will_be_helped(2, little) ? '+' : '-';
                         }
                         if (testing::count_threads() > 1) said += " a helper came";
                         said += will_be_helped(2, little) ? "+ " : "- ";
                       }
                       return said == "------ ------ ++++++ " ? "" : said;
                     }),
            "");
}

TEST(Team, ForkedChildrenAndGrandchildrenWork) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  ASSERT_EQ(get_a_helper(), "");
  // Somebody always calls while this thread forks; without the heap, whose lock a sanitizer does
  // not give back in the child.
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over.load()) {
      std::atomic<int> next{0};
      run_team(3, kLong, [&](int) {
        while (next.fetch_add(1) < 1000) relax(0);
      });
    }
  });
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    EXPECT_EQ(run_pieces(3, 20), "");
    EXPECT_EQ(in_child(10,
                       [] {
                         std::string wrong = run_pieces(3, 20);
                         if (wrong.empty()) wrong = get_a_helper();
                         if (!wrong.empty()) return "child: " + wrong;
                         return in_child(10, [] {
                           const std::string grandchild = run_pieces(3, 20);
                           return grandchild.empty() ? "" : "grandchild: " + grandchild;
                         });
                       }),
              "")
        << "fork " << i;
  }
  over = true;
  busy.join();
  EXPECT_EQ(run_pieces(3, 100), "") << "the parent, after its forks";
}

TEST(Team, AForkInsideABodyLeavesAChildThatWorks) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  std::string wrong = "not run";
  run_team(3, kLong, [&](int worker) {
    if (worker == 0) wrong = in_child(10, [] { return run_pieces(3, 50); });
  });
  EXPECT_EQ(wrong, "");
}

TEST(Team, WorksAloneWhereNoThreadCanBeStarted) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       {
                         const testing::NoNewThreads none;
                         for (int call = 0; call < 100; ++call) {
                           if (auto wrong = run_pieces(4, 50); !wrong.empty()) return wrong;
                         }
                         if (testing::count_threads() != 1) return "a thread was started";
                       }
                       return get_a_helper();  // as soon as threads can be had
                     }),
            "");
}

TEST(Team, ACallersStackMayBeSmall) {
  testing::on_stack_of(64 << 10, [] {
    for (int call = 0; call < 20; ++call) EXPECT_EQ(run_pieces(3, 50), "");
  });
}

TEST(Team, SignalsInterruptNothing) {
  ASSERT_EQ(get_a_helper(), "");
  const testing::SignalStorm storm;
  const auto until = Clock::now() + milliseconds(300);
  while (Clock::now() < until) ASSERT_EQ(run_pieces(3, 20), "");
  EXPECT_GT(storm.handled(), 20);
}

TEST(Team, SignalsAreLeftToTheProgramsOwnThreads) {
  ASSERT_EQ(get_a_helper(), "");
  static std::atomic<int> handled;
  handled = 0;
  const auto before = signal(SIGUSR1, [](int) { handled.fetch_add(1); });
  sigset_t usr1, was;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, &was);
  kill(getpid(), SIGUSR1);  // to whichever thread does not block it
  EXPECT_EQ(run_pieces(3, 20, kLong, milliseconds(1)), "");
  EXPECT_EQ(handled.load(), 0) << "a helper took it";
  pthread_sigmask(SIG_SETMASK, &was, nullptr);
  EXPECT_EQ(handled.load(), 1);
  signal(SIGUSR1, before);
}

TEST(Team, HelpersMayUseTheCoresOfTheirCaller) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  // In a process without helpers, so that the caller starts them.
  EXPECT_EQ(
      in_child(20,
               []() -> std::string {
                 cpu_set_t own;
                 if (sched_getaffinity(0, sizeof own, &own) != 0) return "no affinity";
                 std::atomic<int> came{0}, others{0};
                 const auto deadline = Clock::now() + std::chrono::seconds(10);
                 while (came.load() == 0) {
                   if (Clock::now() > deadline) return "no helper came in ten seconds";
                   run_team(3, kLong, [&](int worker) {
                     cpu_set_t seen;
                     if (worker == 0) return std::this_thread::sleep_for(milliseconds(5));
                     if (sched_getaffinity(0, sizeof seen, &seen) != 0 || !CPU_EQUAL(&own, &seen))
                       ++others;
                     ++came;
                   });
                 }
                 return others.load() == 0 ? "" : "a helper may not use all of them";
               }),
      "");
}

TEST(Team, AThreadThatIsPinnedHasNotGivenUpTheOtherCores) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  if (available_cores() < 2) GTEST_SKIP() << "only one core: NOT TESTED here";
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       const int all = available_cores();
                       cpu_set_t whole, seen;
                       sched_getaffinity(0, sizeof whole, &whole);
                       std::string wrong;
                       std::thread pinned([&] {
                         cpu_set_t one;
                         CPU_ZERO(&one);
                         CPU_SET(sched_getcpu(), &one);
                         sched_setaffinity(0, sizeof one, &one);
                         if (available_cores() != all) wrong = cat(available_cores(), " cores");
                         if (default_threads() < all) wrong = cat(default_threads(), " threads");
                         if (auto bad = get_a_helper(); !bad.empty()) wrong = bad;
                       });
                       pinned.join();
                       if (!wrong.empty()) return wrong;
                       std::atomic<int> came{0}, others{0};
                       for (int call = 0; call < 1000 && came.load() == 0; ++call) {
                         run_team(2, kLong, [&](int worker) {
                           if (worker == 0) return std::this_thread::sleep_for(milliseconds(1));
                           sched_getaffinity(0, sizeof seen, &seen);
                           if (!CPU_EQUAL(&seen, &whole)) ++others;
                           ++came;
                         });
                       }
                       if (came.load() == 0) return "no helper came";
                       return others.load() == 0 ? "" : "the helper is pinned, too";
                     }),
            "");
}

/// Else some kernels wake it there, where it waits for its caller.
TEST(Team, AHelperThatSleepsKeepsOffItsCallersCore) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  if (available_cores() < 2) GTEST_SKIP() << "only one core: NOT TESTED here";
  EXPECT_EQ(in_child(30,
                     []() -> std::string {
                       const auto deadline = Clock::now() + std::chrono::seconds(20);
                       std::atomic<pid_t> helper{0};
                       const auto mask_of = [](pid_t thread) {
                         cpu_set_t mask;
                         sched_getaffinity(thread, sizeof mask, &mask);
                         return mask;
                       };
                       cpu_set_t awake;  // where the helper may be while it works
                       const auto wake = [&] {
                         for (helper = 0; helper == 0 && Clock::now() < deadline;)
                           run_team(2, kLong, [&](int worker) {
                             if (worker == 0) return std::this_thread::sleep_for(milliseconds(1));
                             awake = mask_of(0);
                             helper = gettid();
                           });
                         return helper != 0;
                       };
                       const cpu_set_t whole = mask_of(0);
                       const auto keeps_off_one = [&] {
                         do {
                           std::this_thread::sleep_for(milliseconds(1));
                           const cpu_set_t now = mask_of(helper);
                           if (CPU_COUNT(&now) == CPU_COUNT(&whole) - 1) return true;
                         } while (Clock::now() < deadline);
                         return false;
                       };
                       for (int time = 0; time < 2; ++time) {
                         if (!wake()) return "no helper came";
                         if (!CPU_EQUAL(&awake, &whole)) return "it works on some cores only";
                         if (!keeps_off_one()) return "it may be woken on its caller's core";
                       }
                       // Somebody else says where it may be while it sleeps: that holds.
                       const cpu_set_t kept = mask_of(helper);
                       cpu_set_t one;
                       CPU_XOR(&one, &whole, &kept);
                       sched_setaffinity(helper, sizeof one, &one);
                       if (!wake()) return "it came twice only";
                       if (!CPU_EQUAL(&awake, &one)) return "it is not where it was told to be";
                       // Also where all threads are told to be just where it is kept.
                       sched_setaffinity(helper, sizeof whole, &whole);
                       if (!wake() || !keeps_off_one()) return "it keeps off no core any more";
                       const cpu_set_t there = mask_of(helper);
                       sched_setaffinity(0, sizeof there, &there);
                       sched_setaffinity(helper, sizeof there, &there);
                       if (!wake()) return "it came four times only";
                       return CPU_EQUAL(&awake, &there) ? "" : "it has left where all are to be";
                     }),
            "");
}

TEST(Team, OneCoreIsEnough) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       cpu_set_t one, now;
                       if (sched_getaffinity(0, sizeof now, &now) != 0) return "no affinity";
                       int core = 0;
                       while (!CPU_ISSET(core, &now)) ++core;
                       CPU_ZERO(&one);
                       CPU_SET(core, &one);
                       if (sched_setaffinity(0, sizeof one, &one) != 0) return "no affinity";
                       if (available_cores() != 1) return cat(available_cores(), " cores");
                       for (int call = 0; call < 300; ++call) {
                         if (auto wrong = run_pieces(4, 50); !wrong.empty()) return wrong;
                       }
                       return "";
                     }),
            "");
}

TEST(Team, TheProcessMayEndWhileOthersCall) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  std::fflush(nullptr);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(in_child(10,
                       []() -> std::string {
                         for (int caller = 0; caller < 3; ++caller) {
                           std::thread([] {
                             for (;;) run_pieces(3, 20);
                           }).detach();
                         }
                         std::this_thread::sleep_for(milliseconds(10));
                         std::exit(0);
                       }),
              "");
  }
}

TEST(Team, HelpersDoNotKeepTheRoundingModeOfWhoStartedThem) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       std::fesetround(FE_UPWARD);
                       std::string wrong = get_a_helper();
                       std::fesetround(FE_TONEAREST);
                       std::atomic<int> seen{0}, other{0};
                       for (int call = 0; call < 1000 && seen.load() == 0; ++call) {
                         run_team(2, kLong, [&](int worker) {
                           if (worker == 0) return std::this_thread::sleep_for(milliseconds(1));
                           seen.fetch_add(1);
                           if (std::fegetround() != FE_TONEAREST) other.fetch_add(1);
                         });
                       }
                       if (!wrong.empty()) return wrong;
                       if (seen.load() == 0) return "no helper came";
                       return other.load() == 0 ? "" : "a helper rounds upwards";
                     }),
            "");
}

TEST(Team, WaitingEndsWithWhatIsWaitedFor) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    done = true;
  });
  wait_for_team([&] { return done.load(); });
  EXPECT_TRUE(done.load());
  other.join();
}

/// Helpers look around in its code after the last call, so that stays.
TEST(Team, APluginMayBeClosed) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       void* plugin = dlopen(TEAM_PLUGIN, RTLD_NOW | RTLD_LOCAL);
                       if (plugin == nullptr) return dlerror();
                       auto* const multiplies = reinterpret_cast<float (*)()>(
                           dlsym(plugin, "tessera_plugin_multiplies"));
                       if (multiplies == nullptr) return dlerror();
                       if (multiplies() != 600) return "wrong";
                       dlclose(plugin);
                       std::this_thread::sleep_for(milliseconds(50));
                       return "";
                     }),
            "");
}

}  // namespace
}  // namespace tessera
