// Kernels that throw, terminate, catch what unwinds them, or overflow their stacks: a message, and
// the engine stays usable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <vector>

#include "engine_support.hpp"
#include "support/sanitizers.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using test::error_of;
using test::kOrders;
using test::WarpSum;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Throws {
  std::atomic<int>* alive;
  struct Counted {
    std::atomic<int>& n;
    explicit Counted(std::atomic<int>& n_) : n(n_) { ++n; }
    ~Counted() { --n; }
  };
  void operator()(auto t) const {
    const Counted guard(*alive);
    t.barrier();
    if (t.thread == 17) throw std::runtime_error("seventeen");
    t.barrier();
  }
};

TEST(Faults, AnExceptionNamesItsThreadAndUnwindsAllOthers) {
  std::atomic<int> alive{0};
  const auto text = error_of([&] {
    launch(LaunchConfig{.grid = {4}, .block = {16, 4}}, Throws{&alive});
  });
  EXPECT_THAT(text,
              AllOf(HasSubstr("thread (1,1,0)"), HasSubstr("seventeen"), HasSubstr("block (")));
  EXPECT_EQ(alive.load(), 0);
}

struct ThrowsAnError {
  void operator()(auto t) const {
    if (t.thread == 3) throw Error(Category::file, "no such table", "a file", "nothing");
  }
};

TEST(Faults, AnErrorOfTheKernelKeepsItsCategory) {
  const auto text =
      error_of([&] { launch(LaunchConfig{.block = {8}}, ThrowsAnError{}); }, Category::file);
  EXPECT_THAT(text, AllOf(HasSubstr("thread (3,0,0)"), HasSubstr("expected a file, got nothing")));
}

/// A barrier where nothing can be thrown: in a noexcept function, and in a destructor.
struct BarrierInNoexcept {
  static constexpr const char* name = "barrier_in_noexcept";
  static void wait(auto& t) noexcept { t.barrier(); }
  void operator()(auto t) const {
    if (t.thread != 5) wait(t);
  }
};
template <class Thread>
struct WaitsAtTheEnd {
  Thread& t;
  ~WaitsAtTheEnd() { t.barrier(); }
};
struct BarrierInDestructor {
  void operator()(auto t) const {
    if (t.thread == 3) return;
    const WaitsAtTheEnd<decltype(t)> last{t};
  }
};
struct DifferentBarriersInNoexcept {
  void operator()(auto t) const noexcept {
    if (t.thread < 5) t.superstep("left", [] {});
    else t.superstep("right", [] {});
  }
};
struct ThrowsInNoexcept {
  static void fail() { throw std::runtime_error("seventeen"); }
  void operator()(auto t) const noexcept {
    t.barrier();
    if (t.thread == 17) fail();
    t.barrier();
  }
};
struct Terminates {
  void operator()(auto t) const {
    t.barrier();
    if (t.thread == 17) std::terminate();
    t.barrier();
  }
};

TEST(Faults, WhatCannotBeUnwoundIsLeftBehindAndTheMessageStays) {
  const LaunchConfig config{.grid = {3}, .block = {64}, .threads = 2};
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(error_of([&] { launch(config, BarrierInNoexcept{}); }),
                AllOf(HasSubstr("barrier_in_noexcept"), HasSubstr("63 of 64 threads wait"),
                      HasSubstr("1 of 64 threads have ended")));
    EXPECT_THAT(error_of([&] { launch(config, BarrierInDestructor{}); }),
                HasSubstr("63 of 64 threads wait"));
    EXPECT_THAT(error_of([&] { launch(config, DifferentBarriersInNoexcept{}); }),
                AllOf(HasSubstr("'left'"), HasSubstr("'right'")));
    EXPECT_THAT(error_of([&] { launch(config, ThrowsInNoexcept{}); }),
                AllOf(HasSubstr("thread (17,0,0)"), HasSubstr("noexcept"), HasSubstr("seventeen")));
    EXPECT_THAT(error_of([&] { launch(config, Terminates{}); }),
                AllOf(HasSubstr("thread (17,0,0)"), HasSubstr("std::terminate was called")));
    std::vector<int> out(64);
    launch(LaunchConfig{.block = {64}}, WarpSum{}, out.data());
    EXPECT_EQ(out[63], 496 + 1024);
  }
}

TEST(FaultsDeathTest, TerminateOutsideAKernelStaysWhatItIs) {
  const auto end_early = [] {
    std::set_terminate([] { std::_Exit(42); });
    std::vector<int> out(64);
    launch(LaunchConfig{.block = {64}}, WarpSum{}, out.data());
    std::terminate();
  };
  EXPECT_EXIT(end_early(), ::testing::ExitedWithCode(42), "");
}

/// Destructors that wait while the thread is unwound are let through; a kernel that catches
/// everything cannot keep a failed block alive.
struct Stubborn {
  std::atomic<int>* ended;
  template <class Thread>
  struct Counts {
    Thread& t;
    std::atomic<int>& n;
    ~Counts() {
      t.warp_barrier();
      ++n;
    }
  };
  void operator()(auto t) const {
    const Counts<decltype(t)> last{t, *ended};
    if (t.thread == 0) throw std::runtime_error("zero");
    if (t.thread < 8) t.barrier();
    for (;;) {
      try {
        t.barrier();
      } catch (...) {
      }
    }
  }
};

TEST(Faults, AFailedBlockEndsEvenIfItsThreadsCatchEverything) {
  std::atomic<int> ended{0};
  const auto text = error_of([&] { launch(LaunchConfig{.block = {1}}, Stubborn{&ended}); });
  EXPECT_THAT(text, HasSubstr("zero"));
  EXPECT_EQ(ended.load(), 1);
  EXPECT_THAT(error_of([&] {
                launch(LaunchConfig{.block = {64}, .order = ThreadOrder::backward},
                       Stubborn{&ended});
              }),
              HasSubstr("barrier"));
}

struct WaitsWhileHandling {
  void operator()(auto t, int* out) const {
    try {
      throw int{t.thread};
    } catch (int) {
      t.barrier();
      try {
        throw;
      } catch (int mine) {
        out[t.thread] = mine;
      }
      t.barrier();
    }
  }
};

TEST(Faults, EachThreadHandlesItsOwnExceptions) {
  for (const ThreadOrder order : kOrders) {
    std::vector<int> out(40, -1);
    try {
      throw 1.5;
    } catch (double) {
      launch(LaunchConfig{.block = {40}, .order = order, .seed = 2}, WaitsWhileHandling{},
             out.data());
      EXPECT_THROW(throw, double);
    }
    for (int i = 0; i < 40; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i);
  }
}

struct Recursion {
  static int deep(int n) {
    volatile char frame[512];
    frame[0] = static_cast<char>(n);
    return n == 0 ? 0 : deep(n - 1) + frame[0];
  }
  void operator()(auto t, int depth, int* out) const {
    t.barrier();
    out[t.thread] = deep(t.thread == 3 ? depth : 2);
    t.barrier();
  }
};

TEST(Faults, AStackOverflowIsAMessageAndTheEngineStaysUsable) {
  if (testing::kSanitized) GTEST_SKIP() << "NOT tested: a sanitizer catches stack overflows itself";
  std::vector<int> out(64);
  for (int round = 0; round < 3; ++round) {
    const auto text =
        error_of([&] { launch(LaunchConfig{.block = {64}}, Recursion{}, 1 << 20, out.data()); });
    EXPECT_THAT(text, AllOf(HasSubstr("thread (3,0,0)"), HasSubstr("overflowed")));
    launch(LaunchConfig{.block = {64}}, Recursion{}, 4, out.data());
  }
}

struct WildPointer {
  void operator()(auto t, int* p) const {
    t.barrier();
    p[t.thread] = 1;
  }
};

TEST(FaultsDeathTest, OtherSegmentationFaultsStayWhatTheyAre) {
  if (testing::kSanitized) GTEST_SKIP() << "NOT tested: a sanitizer's own handler ends the program";
  EXPECT_EXIT(launch(LaunchConfig{.block = {2}}, WildPointer{}, reinterpret_cast<int*>(64)),
              ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace tessera
