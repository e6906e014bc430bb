// Warp functions with masks, and named barriers: their results in every order of the
// threads, and how each misuse ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine_support.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using test::error_of;
using test::kOrders;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The two halves of a warp, each for itself and not in step.
struct HalvesOfAWarp {
  void operator()(auto t, int* out) const {
    const unsigned mask = t.lane < 16 ? 0xffffu : 0xffff0000u;
    const int first = t.lane < 16 ? 0 : 16;
    int sum = t.lane;
    for (int step = 1; step < 16; step *= 2) sum += t.shuffle_xor(sum, step, mask);
    bool good = sum == (first == 0 ? 120 : 376);
    if (t.lane < 16) {  // more verbs than the others use
      good = good && t.shuffle(int{t.thread}, 3, mask) == t.warp * 32 + 3;
      t.warp_barrier(mask);
      good = good && t.ballot(t.lane % 2 == 0, mask) == 0x5555u;
    }
    good = good && t.shuffle_down(int{t.lane}, 1, mask) ==
                       (t.lane == first + 15 ? t.lane : t.lane + 1);  // its own at the end
    good = good && t.any(t.lane == first, mask) && !t.all(t.lane == first, mask);
    good = good && t.shuffle_up(int{t.lane}, 16, mask) == t.lane;
    const int of_all = t.shuffle(int{t.lane}, 31);  // and all together again
    out[t.thread] = good && of_all == 31 ? 1 : 0;
  }
};

TEST(Masks, LanesOfAMaskExchangeValuesWithoutTheOthers) {
  for (const ThreadOrder order : kOrders) {
    std::vector<int> out(64);
    launch(LaunchConfig{.block = {64}, .order = order, .seed = 8}, HalvesOfAWarp{}, out.data());
    EXPECT_EQ(out, std::vector<int>(64, 1));
  }
}

struct Active {
  void operator()(auto t, unsigned* out) const {
    if (t.lane % 4 == 1) out[t.thread] = t.active_mask();
    else if (t.lane < 8) out[t.thread] = t.active_mask();
    else out[t.thread] = 0;
    out[t.thread + 64] = t.active_mask();
  }
};

TEST(Masks, TheActiveLanesAreThoseThatComeTogether) {
  for (const ThreadOrder order : kOrders) {
    std::vector<unsigned> out(128);
    launch(LaunchConfig{.block = {40}, .order = order, .seed = 8}, Active{}, out.data());
    EXPECT_EQ(out[1], 0x22222222u);
    EXPECT_EQ(out[0], 0xffu & ~0x22u);
    EXPECT_EQ(out[33], 0x22u);  // the second warp has 8 lanes
    for (int i = 64; i < 104; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)] >> (i % 32) & 1, 1u);
  }
}

/// One addition for all lanes that come.
struct Aggregated {
  void operator()(auto t, int* count, int* places) const {
    if (t.thread % 3 == 0) return;
    const unsigned mask = t.active_mask();
    const int leader = __builtin_ctz(mask);
    int base = 0;
    if (t.lane == leader) base = t.atomic_add(*count, __builtin_popcount(mask));
    base = t.shuffle(base, leader, mask);
    ++places[base + __builtin_popcount(mask & ((1u << t.lane) - 1))];
  }
};

TEST(Masks, ACounterIsAddedToOnceForAllLanes) {
  for (const ThreadOrder order : kOrders) {
    int count = 0;
    std::vector<int> places(64);
    launch(LaunchConfig{.block = {96}, .order = order, .seed = 8}, Aggregated{}, &count,
           places.data());
    EXPECT_EQ(count, 64);
    EXPECT_EQ(places, std::vector<int>(64, 1));
  }
}

struct WrongMask {
  static constexpr const char* name = "wrong_mask";
  unsigned mask;
  int come;
  void operator()(auto t) const {
    if (t.lane < come) t.warp_barrier(mask);
  }
};
std::string wrong_mask(unsigned mask, int come, int threads = 32) {
  return error_of([&] { launch(LaunchConfig{.block = {threads}}, WrongMask{mask, come}); });
}

TEST(Masks, LanesThatNeverComeAreNamed) {
  EXPECT_THAT(wrong_mask(0xff, 6),
              AllOf(HasSubstr("wait at"), HasSubstr("for the lanes of mask 0xff"),
                    HasSubstr("of the lanes that the mask names, 6, 7 of warp 0 do not arrive")));
  EXPECT_THAT(wrong_mask(0xff, 9), AllOf(HasSubstr("thread (8,0,0): a lane is not in the mask"),
                                         HasSubstr("partial_barriers_test.cpp:")));
  EXPECT_THAT(wrong_mask(0xffffffffu, 8, 8),
              AllOf(HasSubstr("a mask names lanes that warp 0 does not have"), HasSubstr("8 lanes"),
                    HasSubstr("lane 31")));
}

struct OtherMasks {
  void operator()(auto t) const { t.warp_barrier(t.lane < 16 ? 0xffffffffu : 0xffff0000u); }
};
TEST(Masks, LanesWithDifferentMasksAreNamed) {
  EXPECT_THAT(error_of([] { launch(LaunchConfig{.block = {32}}, OtherMasks{}); }),
              HasSubstr("of the lanes that the mask names, 16, 17, 18, 19, ... of warp 0"));
}

/// Two warps fill what two others use, by turns, with two barriers of 128 threads.
struct Handover {
  struct Shared {
    int value[64];
  };
  void operator()(auto t, int* out) const {
    auto& s = shared<Shared>(t);
    for (int round = 0; round < 5; ++round) {
      if (t.warp < 2) {
        s.value[t.thread] = 100 * round + t.thread;
        t.barrier(1, 128);  // full
        t.barrier(2, 128);  // empty
      } else {
        t.barrier(1, 128);
        out[round * 64 + t.thread - 64] = s.value[127 - t.thread];
        t.barrier(2, 128);
      }
    }
  }
};

struct HandoverOfFourWarps {
  using Shared = Handover::Shared;
  void operator()(auto t, int* out) const {
    if (t.warp < 4) Handover{}(t, out);
    t.barrier();
  }
};

TEST(NamedBarrier, WarpsHandOverWithoutTheOthers) {
  for (const ThreadOrder order : kOrders) {
    std::vector<int> out(5 * 64);
    launch(LaunchConfig{.block = {192}, .order = order, .seed = 8}, HandoverOfFourWarps{},
           out.data());
    for (int i = 0; i < 5 * 64; ++i)
      ASSERT_EQ(out[static_cast<std::size_t>(i)], 100 * (i / 64) + 63 - i % 64);
  }
}

struct Meets {
  static constexpr const char* name = "meets";
  int id, count, come, step = 0;
  void operator()(auto t) const {
    if (t.thread < come) t.barrier(id, count + (t.warp == 1 ? step : 0));
  }
};
std::string meets(const Meets& kernel, int threads = 128) {
  return error_of([&] { launch(LaunchConfig{.block = {threads}}, kernel); });
}

TEST(NamedBarrier, EveryMisuseIsNamed) {
  EXPECT_THAT(
      meets({1, 96, 64}),
      AllOf(HasSubstr("64 of 128 threads wait at barrier 1, which waits for 96 threads, at"),
            HasSubstr("64 of 128 threads have ended (first: thread (64,0,0))"),
            HasSubstr("barrier 1 lacks 32 threads, such as thread (64,0,0)")));
  EXPECT_THAT(meets({16, 64, 64}), AllOf(HasSubstr("a named barrier that there is not at"),
                                         HasSubstr("expected an id from 0 to 15, got 16")));
  EXPECT_THAT(meets({-1, 64, 64}), HasSubstr("got -1"));
  EXPECT_THAT(meets({3, 48, 48}), AllOf(HasSubstr("barrier 3 cannot wait for that many threads"),
                                        HasSubstr("a multiple of 32 up to 128, got 48")));
  EXPECT_THAT(meets({3, 160, 128}), HasSubstr("up to 128, got 160"));
  EXPECT_THAT(meets({3, 0, 128}), HasSubstr("got 0"));
  EXPECT_THAT(meets({0, 64, 64}), HasSubstr("barrier 0 is that of the whole block"));
  EXPECT_THAT(meets({4, 64, 64, 32}), HasSubstr("threads give barrier 4 different counts; thread "
                                                "(0,0,0) has given 64"));
  EXPECT_THAT(meets({1, 64, 96}), HasSubstr("barrier 1 lacks 32 threads, such as thread (0,0,0)"));
}

TEST(NamedBarrier, APartOfAWarpIsRefused) {
  const auto kernel = [](auto t) {
    if (t.lane < 16) t.barrier(1, 32);
  };
  EXPECT_THAT(error_of([&] { launch(LaunchConfig{.block = {64}}, kernel); }),
              AllOf(HasSubstr("barrier 1 is met by a part of warp 0"),
                    HasSubstr("all of its 32 lanes, got 16")));
}

TEST(NamedBarrier, ThePartialLastWarpCountsAsWhole) {
  int out = 0;
  launch(
      LaunchConfig{.block = {48}},
      [](auto t, int* sum) {
        t.barrier(7, 64);
        t.barrier(0, 64);
        t.atomic_add(*sum, 1);
      },
      &out);
  EXPECT_EQ(out, 48);
}

}  // namespace
}  // namespace tessera
