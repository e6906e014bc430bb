// The team of threads in difficult processes: fork, signals, small stacks, pinned threads,
// plugins, no further threads.
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
#include "tessera/core/team.hpp"
#include "tessera/core/text.hpp"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using testing::Clock;
using testing::get_a_worker;
using testing::in_child;
using testing::kLong;
using testing::kThreadSanitizer;
using testing::run_pieces;

TEST(Team, WhoeverOnlyAsksIsToldOfTheNextCallAndChangesNothing) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(10,
                     [] {
                       constexpr std::int64_t little =
                           50'000;  // worth waking for in the third call
                       std::string said;
                       for (int call = 0; call < 3; ++call) {
                         for (int n = 0; n < 5; ++n) {
                           const PredictOnly predict_only;
                           said += workers_would_join(2, little) ? '+' : '-';
                         }
                         if (testing::count_threads() > 1) said += " a worker came";
                         said += workers_would_join(2, little) ? "+ " : "- ";
                       }
                       return said == "------ ------ ++++++ " ? "" : said;
                     }),
            "");
}

TEST(Team, ForkedChildrenAndGrandchildrenWork) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  ASSERT_EQ(get_a_worker(), "");
  // Somebody always calls while this thread forks; without the heap, and after all threads have
  // started: a sanitizer does not give back in the child what locks these hold.
  std::atomic<bool> over{false};
  std::atomic<int> calls{0};
  std::thread busy([&] {
    for (; !over.load(); ++calls) {
      std::atomic<int> next{0};
      run_team(3, kLong, [&](int) {
        while (next.fetch_add(1) < 1000) relax(0);
      });
    }
  });
  while (calls.load() < 100) std::this_thread::yield();
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    EXPECT_EQ(run_pieces(3, 20), "");
    EXPECT_EQ(in_child(10,
                       [] {
                         std::string wrong = run_pieces(3, 20);
                         if (wrong.empty()) wrong = get_a_worker();
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
                       return get_a_worker();  // as soon as threads can be had
                     }),
            "");
}

TEST(Team, ACallersStackMayBeSmall) {
  testing::on_stack_of(64 << 10, [] {
    for (int call = 0; call < 20; ++call) EXPECT_EQ(run_pieces(3, 50), "");
  });
}

TEST(Team, SignalsInterruptNothing) {
  ASSERT_EQ(get_a_worker(), "");
  const testing::SignalStorm storm;
  const auto until = Clock::now() + milliseconds(300);
  while (Clock::now() < until) ASSERT_EQ(run_pieces(3, 20), "");
  EXPECT_GT(storm.handled(), 20);
}

TEST(Team, SignalsAreLeftToTheProgramsOwnThreads) {
  ASSERT_EQ(get_a_worker(), "");
  static std::atomic<int> handled;
  handled = 0;
  const auto before = signal(SIGUSR1, [](int) { handled.fetch_add(1); });
  sigset_t usr1, was;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, &was);
  kill(getpid(), SIGUSR1);  // to whichever thread does not block it
  EXPECT_EQ(run_pieces(3, 20, kLong, milliseconds(1)), "");
  EXPECT_EQ(handled.load(), 0) << "a worker took it";
  pthread_sigmask(SIG_SETMASK, &was, nullptr);
  EXPECT_EQ(handled.load(), 1);
  signal(SIGUSR1, before);
}

TEST(Team, WorkersMayUseTheCoresOfTheirCaller) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  // In a process without workers, so that the caller starts them.
  EXPECT_EQ(
      in_child(20,
               []() -> std::string {
                 cpu_set_t own;
                 if (sched_getaffinity(0, sizeof own, &own) != 0) return "no affinity";
                 std::atomic<int> came{0}, others{0};
                 const auto deadline = Clock::now() + std::chrono::seconds(10);
                 while (came.load() == 0) {
                   if (Clock::now() > deadline) return "no worker came in ten seconds";
                   run_team(3, kLong, [&](int worker) {
                     cpu_set_t seen;
                     if (worker == 0) return std::this_thread::sleep_for(milliseconds(5));
                     if (sched_getaffinity(0, sizeof seen, &seen) != 0 || !CPU_EQUAL(&own, &seen))
                       ++others;
                     ++came;
                   });
                 }
                 return others.load() == 0 ? "" : "a worker may not use all of them";
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
                         if (auto bad = get_a_worker(); !bad.empty()) wrong = bad;
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
                       if (came.load() == 0) return "no worker came";
                       return others.load() == 0 ? "" : "the worker is pinned, too";
                     }),
            "");
}

/// Else some kernels wake it there, where it waits for its caller.
TEST(Team, AWorkerThatSleepsKeepsOffItsCallersCore) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  if (available_cores() < 2) GTEST_SKIP() << "only one core: NOT TESTED here";
  EXPECT_EQ(in_child(30,
                     []() -> std::string {
                       const auto deadline = Clock::now() + std::chrono::seconds(20);
                       std::atomic<pid_t> thread_id{0};
                       const auto mask_of = [](pid_t thread) {
                         cpu_set_t mask;
                         sched_getaffinity(thread, sizeof mask, &mask);
                         return mask;
                       };
                       cpu_set_t awake;  // where the worker may be while it works
                       const auto wake = [&] {
                         for (thread_id = 0; thread_id == 0 && Clock::now() < deadline;)
                           run_team(2, kLong, [&](int worker) {
                             if (worker == 0) return std::this_thread::sleep_for(milliseconds(1));
                             awake = mask_of(0);
                             thread_id = gettid();
                           });
                         return thread_id != 0;
                       };
                       const cpu_set_t whole = mask_of(0);
                       const auto keeps_off_one = [&] {
                         do {
                           std::this_thread::sleep_for(milliseconds(1));
                           const cpu_set_t now = mask_of(thread_id);
                           if (CPU_COUNT(&now) == CPU_COUNT(&whole) - 1) return true;
                         } while (Clock::now() < deadline);
                         return false;
                       };
                       for (int time = 0; time < 2; ++time) {
                         if (!wake()) return "no worker came";
                         if (!CPU_EQUAL(&awake, &whole)) return "it works on some cores only";
                         if (!keeps_off_one()) return "it may be woken on its caller's core";
                       }
                       // Somebody else says where it may be while it sleeps: that holds.
                       const cpu_set_t kept = mask_of(thread_id);
                       cpu_set_t one;
                       CPU_XOR(&one, &whole, &kept);
                       sched_setaffinity(thread_id, sizeof one, &one);
                       if (!wake()) return "it came twice only";
                       if (!CPU_EQUAL(&awake, &one)) return "it is not where it was told to be";
                       // Also where all threads are told to be just where it is kept.
                       sched_setaffinity(thread_id, sizeof whole, &whole);
                       if (!wake() || !keeps_off_one()) return "it keeps off no core any more";
                       const cpu_set_t there = mask_of(thread_id);
                       sched_setaffinity(0, sizeof there, &there);
                       sched_setaffinity(thread_id, sizeof there, &there);
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

TEST(Team, WorkersDoNotKeepTheRoundingModeOfWhoStartedThem) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       std::fesetround(FE_UPWARD);
                       std::string wrong = get_a_worker();
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
                       if (seen.load() == 0) return "no worker came";
                       return other.load() == 0 ? "" : "a worker rounds upwards";
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

/// Workers spin in its code after the last call, so that stays.
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
