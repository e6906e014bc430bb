// Barriers that not all threads of a block or warp reach, and threads that reach different ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine_support.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using test::error_of;
using test::kOrders;
using ::testing::AllOf;
using ::testing::HasSubstr;

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
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("barrier_in_branch"), HasSubstr("5 of 64 threads wait at the barrier 'half'"),
            HasSubstr("diverged_test.cpp:"), HasSubstr("59 of 64 threads have ended")));
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
                             HasSubstr("diverged_test.cpp:"));
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

}  // namespace
}  // namespace tessera
