// Workers and what happens to a process: a fault that the program handles is handled in a worker
// too, with the floating-point exceptions that its caller traps, and a stopped process
// does not count as slow. Also where a worker is woken.
#include <fenv.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "core/team_calls.hpp"
#include "support/child.hpp"
#include "support/sanitizers.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "tessera/core/text.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera {
namespace {

using std::chrono::milliseconds;
using testing::Clock;
using testing::in_child;
using testing::kLong;
using testing::kThreadSanitizer;

constexpr const char* kNoForks = "the thread sanitizer allows no threads after a fork";

/// Runs body() in a worker, while the caller waits in its own part for that; "" or what went wrong.
template <class Body>
std::string in_worker(const Body& body) {
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  for (std::atomic<bool> came{false}; !came.load();) {
    if (Clock::now() > deadline) return "no worker came in ten seconds";
    run_team(2, kLong, [&](int worker) {
      if (worker != 0) {
        body();
        came = true;
      } else {
        for (int i = 0; i < 50 && !came.load(); ++i) std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  return "";
}

TEST(TeamFaults, SignalsOfAnInstructionReachTheProgramsHandler) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    EXPECT_EQ(in_child(20,
                       [number]() -> std::string {
                         static std::atomic<int> handled;
                         handled = 0;
                         signal(number, [](int) { handled.fetch_add(1); });
                         const std::string wrong = in_worker([number] { raise(number); });
                         if (!wrong.empty()) return wrong;
                         return handled.load() > 0 ? "" : "the worker blocks it";
                       }),
              "")
        << strsignal(number);
  }
}

/// As a garbage collector's write barrier does it: the handler opens the page and returns.
TEST(TeamFaults, AHandlerMayMendTheFaultOfAWorker) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       static char* page;
                       page = static_cast<char*>(
                           mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
                       struct sigaction action {};
                       action.sa_sigaction = [](int, siginfo_t*, void*) {
                         mprotect(page, 4096, PROT_READ | PROT_WRITE);
                       };
                       action.sa_flags = SA_SIGINFO;
                       sigaction(SIGSEGV, &action, nullptr);
                       const std::string wrong =
                           in_worker([] { *static_cast<volatile char*>(page) = 7; });
                       return !wrong.empty() ? wrong : page[0] == 7 ? "" : "not written";
                     }),
            "");
}

#if defined(__x86_64__)
TEST(TeamFaults, WorkersTrapWhatTheirCallerTraps) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  EXPECT_EQ(in_child(20,
                     []() -> std::string {
                       signal(SIGFPE, [](int) { _exit(write(2, "", 0) == 0 ? 0 : 1); });
                       feenableexcept(FE_DIVBYZERO);
                       const std::string wrong = in_worker([] {
                         volatile double zero = 0;
                         zero = 1 / zero;
                       });
                       return wrong.empty() ? "a worker divided by zero and went on" : wrong;
                     }),
            "");
}
#endif

TEST(TeamFaults, ExceptionsThatWorkersRaiseAreTheirCallers) {
  feclearexcept(FE_ALL_EXCEPT);
  ASSERT_EQ(in_worker([] {
              volatile float large = 3e38f;
              large = large * large;
            }),
            "");
  EXPECT_NE(fetestexcept(FE_OVERFLOW), 0);
  feclearexcept(FE_ALL_EXCEPT);
  ASSERT_EQ(in_worker([] {}), "");
  EXPECT_EQ(fetestexcept(FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID), 0);
}

/// Runs body() in a child that may stop itself with SIGSTOP: it continues 300 ms later.
template <class Body>
std::string in_child_that_stops(const Body& body) {
  return in_child(30, [&]() -> std::string {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    for (int status = 0; waitpid(child, &status, WUNTRACED) == child;) {
      if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "" : "helped no more";
      if (WIFSIGNALED(status)) return cat("ended by signal ", WTERMSIG(status));
      std::this_thread::sleep_for(milliseconds(300));
      kill(child, SIGCONT);
    }
    return "waitpid failed";
  });
}

constexpr std::int64_t kOneMs = 1'000'000;

void for_about(std::int64_t ns) {
  const auto until = Clock::now() + std::chrono::nanoseconds(ns);
  while (Clock::now() < until) relax(0);
}

/// Some of several attempts must do: on a busy machine a worker may be late as well.
template <class Body>
void expect_helped_after(const Body& body) {
  std::string last;
  for (int attempt = 0; attempt < 8; ++attempt) {
    last = in_child_that_stops([&] {
      if (!in_worker([] {}).empty()) return 2;
      body();
      return workers_would_join(2, kOneMs) ? 0 : 1;
    });
    if (last.empty()) return;
  }
  ADD_FAILURE() << last;
}

TEST(TeamAbsences, AStopWhileTheCallerWaitsIsNoLateWorker) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  expect_helped_after([] {
    std::atomic<bool> came{false};
    run_team(2, kOneMs, [&](int worker) {
      if (worker == 0) {
        for (int i = 0; i < 1000 && !came.load(); ++i) for_about(10'000);
        return;
      }
      came = true;
      for_about(1'000'000);  // the caller waits by then, and does not only pause
      kill(getpid(), SIGSTOP);
    });
  });
}

TEST(TeamAbsences, AStopWhileAWorkerLooksForMoreHoldsNobodyUp) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  expect_helped_after([] {
    std::atomic<bool> came{false};
    run_team(2, kOneMs, [&](int worker) {  // it is awake afterwards
      if (worker != 0) came = true;
      for (int i = 0; i < 1000 && !came.load(); ++i) for_about(10'000);
    });
    came = false;
    run_team(2, kOneMs, [&](int worker) {
      if (worker != 0) came = true;
      else {
        for (int i = 0; i < 1000 && !came.load(); ++i) for_about(10'000);
        for_about(30'000);
        kill(getpid(), SIGSTOP);
        for_about(100'000);  // the worker finds its caller busy
      }
    });
  });
}

/// On two cores a worker that keeps off the core that its caller was on before may only run where
/// the caller is now.
TEST(TeamPlaces, AWorkerIsWokenOffTheCoreThatItsCallerIsOnNow) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  if (available_cores() < 2) GTEST_SKIP() << "only one core: NOT TESTED here";
  EXPECT_EQ(in_child(30,
                     []() -> std::string {
                       cpu_set_t all, two, one[2];
                       sched_getaffinity(0, sizeof all, &all);
                       CPU_ZERO(&two);
                       int found = 0;
                       for (int core = 0; found < 2; ++core) {
                         if (!CPU_ISSET(core, &all)) continue;
                         CPU_SET(core, &two);
                         CPU_ZERO(&one[found]);
                         CPU_SET(core, &one[found++]);
                       }
                       sched_setaffinity(0, sizeof two, &two);
                       int together = 0, apart = 0;
                       std::string wrong;
                       std::thread([&] {
                         for (int round = 0; round < 20 && wrong.empty(); ++round) {
                           // Where the last call was, until the worker sleeps; then elsewhere.
                           sched_setaffinity(0, sizeof two, &one[round % 2]);
                           wrong = in_worker([] {});
                           std::this_thread::sleep_for(milliseconds(20));
                           sched_setaffinity(0, sizeof two, &one[1 - round % 2]);
                           const int here = sched_getcpu();
                           std::atomic<int> there{-1};
                           run_team(2, kLong, [&](int worker) {
                             if (worker != 0) there = sched_getcpu();
                             else std::this_thread::sleep_for(milliseconds(10));
                           });
                           if (there >= 0) ++(there == here ? together : apart);
                         }
                       }).join();
                       if (!wrong.empty()) return wrong;
                       return apart > 0 ? "" : cat(together, " times on its caller's core");
                     }),
            "");
}

}  // namespace
}  // namespace tessera
