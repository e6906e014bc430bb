// The CPU engine without faults: positions, barriers, warps, atomics, orders; and launches
// that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine_support.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using test::error_of;
using test::kOrders;
using test::WarpSum;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
              HasSubstr("too many threads in a block: expected at most 1024, got (1025,1,1)"));
  EXPECT_THAT(
      error_of([&] { launch(LaunchConfig{.block = {0}}, CountEach{}, &hits); }, Category::argument),
      AllOf(HasSubstr("a block without threads"), HasSubstr("(0,1,1)"),
            Not(HasSubstr("smaller tiles"))));
  EXPECT_THAT(
      error_of([&] { launch(LaunchConfig{.block = {8}, .threads = -4}, CountEach{}, &hits); },
               Category::argument),
      AllOf(HasSubstr("negative number of OS threads"), HasSubstr("got -4")));
  EXPECT_THAT(
      error_of([&] { launch(LaunchConfig{.grid = {-1}, .block = {1}}, CountEach{}, &hits); },
               Category::argument),
      HasSubstr("negative grid"));
  EXPECT_THAT(error_of([&] { launch(LaunchConfig{}, Greedy{}); }, Category::argument),
              HasSubstr("shared storage"));
  EXPECT_EQ(hits, 0);
}

/// Its storage is not called Shared: nobody reserves it.
struct Undeclared {
  struct Stage {
    float value[64];
  };
  void operator()(auto t) const { shared<Stage>(t).value[t.thread] = 1; }
};

TEST(Launch, MoreSharedStorageThanTheKernelDeclaresIsRefused) {
  EXPECT_THAT(
      error_of([] { launch(LaunchConfig{.block = {64}}, Undeclared{}); }),
      AllOf(HasSubstr("thread (0,0,0): shared<S>(t): S is larger"),
            HasSubstr("expected at most 0 bytes, got 256"), HasSubstr("name the struct Shared")));
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
