// The CPU engine: positions, barriers, warps, atomics, orders; and every way in which a kernel can
// go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "support/sanitizers.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                   ThreadOrder::shuffled};

/// The message of the Error that `action` must throw, and its category.
template <class Action>
std::string error_of(Action action, Category category = Category::kernel) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), category) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

struct CountEach {
  void operator()(auto t, int* hits) const {
    const int block = t.block.x + t.grid_dim.x * (t.block.y + t.grid_dim.y * t.block.z);
    const int thread = t.thread.x + t.block_dim.x * (t.thread.y + t.block_dim.y * t.thread.z);
    ++hits[block * static_cast<int>(volume(t.block_dim)) + thread];
    if (thread != t.thread || block != t.block || t.lane != thread % 32 || t.warp != thread / 32)
      hits[0] = 1000;
  }
};

TEST(Engine, RunsEachThreadOfEachBlockOnceInThreeDimensions) {
  for (const ThreadOrder order : kOrders) {
    std::vector<int> hits(3 * 4 * 2 * 5 * 7 * 3, 0);
    launch(
        LaunchConfig{
            .grid = {3, 4, 2}, .block = {5, 7, 3}, .threads = 3, .order = order, .seed = 5},
        CountEach{}, hits.data());
    EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), static_cast<int>(hits.size()));
    EXPECT_EQ(*std::max_element(hits.begin(), hits.end()), 1);
  }
}

TEST(Engine, AGridWithoutBlocksDoesNothing) {
  int hits = 0;
  launch(LaunchConfig{.grid = {0, 4, 1}, .block = {8}}, CountEach{}, &hits);
  EXPECT_EQ(hits, 0);
}

struct Reverse {
  struct Shared {
    int value[256];
  };
  void operator()(auto t, const int* in, int* out) const {
    auto& s = shared<Shared>(t);
    for (int round = 0; round < 3; ++round) {
      t.superstep("write", [&] { s.value[t.thread] = round == 0 ? in[t.thread] : out[t.thread]; });
      t.superstep("read", [&] {
        out[t.thread] = s.value[static_cast<int>(volume(t.block_dim)) - 1 - t.thread] + 1;
      });
    }
  }
};

TEST(Engine, BarriersMakeSharedWritesVisibleInEveryOrder) {
  for (const ThreadOrder order : kOrders) {
    for (const int threads : {1, 2, 31, 32, 33, 256}) {
      std::vector<int> in(256), out(256, -1);
      std::iota(in.begin(), in.end(), 0);
      launch(LaunchConfig{.block = {threads}, .order = order, .seed = 11}, Reverse{}, in.data(),
             out.data());
      for (int i = 0; i < threads; ++i)
        ASSERT_EQ(out[static_cast<std::size_t>(i)], threads - 1 - i + 3);
    }
  }
}

struct UninitialisedShared {
  struct Shared {
    float value[4];
  };
  void operator()(auto t, float* out) const { out[0] = shared<Shared>(t).value[3]; }
};

TEST(Engine, SharedStorageStartsAsNan) {
  float out = 0;
  launch(LaunchConfig{}, UninitialisedShared{}, &out);
  EXPECT_NE(out, out);
}

struct WarpSum {
  void operator()(auto t, int* out) const {
    int value = t.thread;
    for (int step = 16; step > 0; step /= 2) value += t.shuffle_xor(value, step);
    const unsigned odd = t.ballot(t.lane % 2 == 1);
    const int from_first = t.shuffle(value, 0);
    const int next = t.shuffle_down(static_cast<int>(t.lane), 1);
    const bool good =
        odd == 0xaaaaaaaau && from_first == value && next == (t.lane == 31 ? 31 : t.lane + 1) &&
        t.any(t.lane == 7) && !t.all(t.lane == 7) &&
        t.shuffle_up(static_cast<int>(t.lane), 2) == (t.lane < 2 ? t.lane : t.lane - 2);
    out[t.thread] = good ? value : -1;
  }
};

TEST(Engine, LanesExchangeValues) {
  for (const ThreadOrder order : kOrders) {
    std::vector<int> out(96);
    launch(LaunchConfig{.block = {96}, .order = order, .seed = 3}, WarpSum{}, out.data());
    for (int i = 0; i < 96; ++i)
      EXPECT_EQ(out[static_cast<std::size_t>(i)], 496 + i / 32 * 1024) << i;
  }
}

struct WaveOf64 {
  static constexpr int warp = 64;
  void operator()(auto t, std::uint64_t* votes, int* sums) const {
    votes[t.thread] = t.ballot(t.lane % 3 == 0);
    sums[t.thread] = t.shuffle_xor(int{t.thread}, 32) + 1000 * t.warp + 100000 * t.lanes();
    if (t.lane != t.thread % 64 || t.warp != t.thread / 64 || t.warp_size != 64)
      sums[t.thread] = -1;
  }
};
struct WavesApart {
  static constexpr int warp = 64;
  void operator()(auto t) const {
    if (t.thread < 32) t.warp_barrier();
    else t.warp_barrier();
  }
};

TEST(Engine, AKernelMayDeclareWarpsOf64Lanes) {
  for (const ThreadOrder order : kOrders) {
    std::vector<std::uint64_t> votes(100);
    std::vector<int> sums(100);
    launch(LaunchConfig{.block = {100}, .order = order, .seed = 3}, WaveOf64{}, votes.data(),
           sums.data());
    EXPECT_EQ(votes[63], 0x9249249249249249u);
    EXPECT_EQ(votes[64], 0x249249249u);  // the second wave has 36 lanes
    EXPECT_EQ(sums[0], 32 + 6400000);
    EXPECT_EQ(sums[40], 8 + 6400000);
    EXPECT_EQ(sums[64], 96 + 1000 + 3600000);
    EXPECT_EQ(sums[70], 70 + 1000 + 3600000);  // lane 38 is outside: its own value
    EXPECT_THAT(
        error_of([&] { launch(LaunchConfig{.block = {64}, .order = order}, WavesApart{}); }),
        HasSubstr("threads of one warp reached different barriers"));
  }
}

struct PartialWarp {
  void operator()(auto t, int* out) const {
    out[t.thread] = t.shuffle(t.thread * 10, t.lanes() - 1);
  }
};

TEST(Engine, TheLastWarpMayBePartial) {
  std::vector<int> out(37);
  launch(LaunchConfig{.block = {37}}, PartialWarp{}, out.data());
  EXPECT_EQ(out[0], 310);
  EXPECT_EQ(out[36], 360);
}

struct Atomics {
  void operator()(auto t, int* sum, float* fsum, int* low, int* high, int* claims) const {
    t.atomic_add(*sum, 1);
    t.atomic_add(*fsum, 0.5f);
    t.atomic_min(*low, int{t.thread});
    t.atomic_max(*high, int{t.thread});
    if (t.atomic_compare_exchange(claims[t.block], 0, 1) == 0) t.atomic_add(claims[2], 1);
  }
};

TEST(Engine, AtomicsAddUpOverBlocksAndCores) {
  int sum = 0, low = 1000, high = -1, claims[3] = {};
  float fsum = 0;
  launch(LaunchConfig{.grid = {2}, .block = {512}, .threads = 2}, Atomics{}, &sum, &fsum, &low,
         &high, &claims[0]);
  EXPECT_EQ(sum, 1024);
  EXPECT_EQ(fsum, 512.0f);
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, 511);
  EXPECT_EQ(claims[2], 2);
}

struct BarrierInBranch {
  static constexpr const char* name = "barrier_in_branch";
  void operator()(auto t) const {
    if (t.thread < 5) t.superstep("half", [] {});
  }
};
struct DifferentBarriers {
  void operator()(auto t) const {
    if (t.thread < 5) t.superstep("left", [] {});
    else t.superstep("right", [] {});
  }
};
struct WarpBarrierInBranch {
  void operator()(auto t) const {
    if (t.lane != 3) t.warp_barrier();
  }
};
struct UniformBranch {
  void operator()(auto t, int* out) const {
    for (int i = 0; i < t.block.x; ++i) t.barrier();
    if (t.block.x % 2 == 0) t.barrier();
    ++out[t.thread];
  }
};

TEST(Diverged, ABarrierThatNotAllReachNamesLinesAndThreads) {
  const auto text =
      error_of([] { launch(LaunchConfig{.grid = {2}, .block = {64}}, BarrierInBranch{}); });
  EXPECT_THAT(text, AllOf(HasSubstr("barrier_in_branch"),
                          HasSubstr("5 of 64 threads wait at the barrier 'half'"),
                          HasSubstr("engine_test.cpp:"), HasSubstr("59 of 64 threads have ended")));
}

TEST(Diverged, DifferentBarriersNameBothLines) {
  const auto text = error_of([] { launch(LaunchConfig{.block = {8}}, DifferentBarriers{}); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("'left'"), HasSubstr("'right'"), HasSubstr("different barriers")));
}

TEST(Diverged, AWarpBarrierThatOneLaneMissesIsReported) {
  const auto text = error_of([] { launch(LaunchConfig{.block = {32}}, WarpBarrierInBranch{}); });
  EXPECT_THAT(text, AllOf(HasSubstr("31 of 32 threads wait at the warp barrier"),
                          HasSubstr("1 of 32 threads have ended")));
}

// One line on purpose: places are told apart by column, and by name.
// clang-format off
struct SameLine {
  void operator()(auto t) const { if (t.thread < 5) t.superstep("left", [] {}); else t.superstep("right", [] {}); }
};
struct ShufflesApart {
  void operator()(auto t) const { if (t.lane < 16) t.shuffle(1, 0); else t.shuffle(2, 31); }
};
// clang-format on
struct OnePlaceTwoNames {
  void operator()(auto t) const {
    t.superstep(t.thread < 5 ? "left" : "right", [] {});
  }
};
struct OnePlaceOneName {
  void operator()(auto t, const char* const* names) const {
    t.superstep(names[t.thread], [] {});
  }
};
struct WarpBarriersApart {
  void operator()(auto t) const {
    if (t.lane < 16) t.warp_barrier();
    else t.warp_barrier();
  }
};
struct DifferentVerbs {
  void operator()(auto t) const {
    if (t.lane == 0) t.shuffle(1, 0);
    else t.ballot(true);
  }
};
/// Half of the lanes go round a loop more often than the others, and meet them elsewhere.
struct LoopsApart {
  void operator()(auto t) const {
    for (int i = 0; i < (t.lane < 16 ? 2 : 3); ++i) t.warp_barrier();
    if (t.lane < 16) t.warp_barrier();
  }
};
/// Every warp may go its own way.
struct WarpsApart {
  void operator()(auto t, int* out) const {
    if (t.warp == 0) out[t.thread] = t.shuffle(t.thread, 3);
    else out[t.thread] = t.shuffle(t.thread, 4);
  }
};

TEST(Diverged, BarriersOfOneLineAreToldApart) {
  const LaunchConfig config{.block = {32}};
  EXPECT_THAT(error_of([&] { launch(config, SameLine{}); }),
              AllOf(HasSubstr("threads of one block reached different barriers"),
                    HasSubstr("'left'"), HasSubstr("'right'")));
  EXPECT_THAT(error_of([&] { launch(config, OnePlaceTwoNames{}); }),
              AllOf(HasSubstr("'left'"), HasSubstr("'right'")));
  EXPECT_THAT(error_of([&] { launch(config, ShufflesApart{}); }),
              AllOf(HasSubstr("threads of one warp reached different barriers"),
                    HasSubstr("thread (0,0,0) waits at the warp barrier 'shuffle'"),
                    HasSubstr("thread (16,0,0)")));
}

TEST(Diverged, EqualNamesAtDifferentAddressesAreOneName) {
  const std::string copy = "step";
  std::vector<const char*> names(32, "step");
  names[7] = copy.c_str();
  launch(LaunchConfig{.block = {32}}, OnePlaceOneName{}, names.data());
}

TEST(Diverged, LanesAtDifferentWarpBarriersNameBothLines) {
  for (const ThreadOrder order : kOrders) {
    const LaunchConfig config{.block = {64}, .order = order, .seed = 4};
    const auto apart = AllOf(HasSubstr("threads of one warp reached different barriers"),
                             HasSubstr("engine_test.cpp:"));
    EXPECT_THAT(error_of([&] { launch(config, WarpBarriersApart{}); }), apart);
    EXPECT_THAT(error_of([&] { launch(config, LoopsApart{}); }), apart);
    EXPECT_THAT(error_of([&] { launch(config, DifferentVerbs{}); }),
                AllOf(apart, HasSubstr("'shuffle'"), HasSubstr("'ballot'")));
    std::vector<int> out(64);
    launch(config, WarpsApart{}, out.data());
    EXPECT_EQ(out[31], 3);
    EXPECT_EQ(out[32], 36);
  }
}

TEST(Diverged, AUniformBranchIsFine) {
  std::vector<int> out(40);
  launch(LaunchConfig{.grid = {5}, .block = {40}, .threads = 1}, UniformBranch{}, out.data());
  EXPECT_EQ(out[39], 5);
}

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

struct Greedy {
  struct Shared {
    char bytes[228 * 1024];
  };
  void operator()(auto) const {}
};

TEST(Launch, ImpossibleConfigurationsAreRefusedBeforeAnythingRuns) {
  int hits = 0;
  EXPECT_THAT(error_of([&] { launch(LaunchConfig{.block = {1025}}, CountEach{}, &hits); },
                       Category::argument),
              HasSubstr("1 to 1024 threads, got 1025"));
  EXPECT_THAT(
      error_of([&] { launch(LaunchConfig{.block = {0}}, CountEach{}, &hits); }, Category::argument),
      HasSubstr("(0,1,1)"));
  EXPECT_THAT(
      error_of([&] { launch(LaunchConfig{.grid = {-1}, .block = {1}}, CountEach{}, &hits); },
               Category::argument),
      HasSubstr("negative grid"));
  EXPECT_THAT(error_of([&] { launch(LaunchConfig{}, Greedy{}); }, Category::argument),
              HasSubstr("shared storage"));
  EXPECT_EQ(hits, 0);
}

struct Accumulates {
  struct Shared {
    double value[128];
  };
  void operator()(auto t, double* out) const {
    auto& s = shared<Shared>(t);
    s.value[t.thread] = 1.0 / (1 + t.thread + t.block);
    t.barrier();
    if (t.thread == 0) {
      double sum = 0;
      for (int i = 0; i < 128; ++i) sum += s.value[i];
      out[t.block] = sum;
    }
  }
};

TEST(Engine, GivesTheSameForAnyNumberOfCoresAndConcurrentCallers) {
  std::vector<double> expected(64);
  launch(LaunchConfig{.grid = {64}, .block = {128}, .threads = 1}, Accumulates{}, expected.data());
  parallel_for(8, 8, [&](index_t i) {
    std::vector<double> out(64);
    launch(LaunchConfig{.grid = {64},
                        .block = {128},
                        .threads = 1 + static_cast<int>(i) % 3,
                        .order = kOrders[i % 3]},
           Accumulates{}, out.data());
    EXPECT_EQ(out, expected);
  });
}

}  // namespace
}  // namespace tessera
