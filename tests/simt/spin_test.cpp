// Threads that wait for one another by atomics: they give way, to threads of their block and to
// other blocks; and where no thread can continue, the launch ends with an error.
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

/// The first and the last thread of a block, one of which waits for the other.
struct WaitsForFlag {
  bool last_waits;
  void operator()(auto t, int* flag, int* out) const {
    const int last = static_cast<int>(volume(t.block_dim)) - 1;
    const int waits = last_waits ? last : 0, sets = last - waits;
    if (t.thread == waits)
      while (t.atomic_add(*flag, 0) == 0) {
      }
    if (t.thread == sets) t.atomic_exchange(*flag, 1);
    out[t.thread] = 1;
  }
};

TEST(Spin, AThreadThatPollsGivesWayInEveryOrder) {
  for (const ThreadOrder order : kOrders) {
    for (const int threads : {2, 32, 33, 256}) {
      for (const bool last_waits : {false, true}) {
        int flag = 0;
        std::vector<int> out(256);
        launch(LaunchConfig{.block = {threads}, .order = order, .seed = 4},
               WaitsForFlag{last_waits}, &flag, out.data());
        EXPECT_EQ(std::count(out.begin(), out.end(), 1), threads);
      }
    }
  }
}

/// Each thread waits for its neighbour: the worst order takes as many rounds as threads.
struct Chain {
  void operator()(auto t, int* turns) const {
    const int next = t.thread + 1;
    while (next < static_cast<int>(volume(t.block_dim)) && t.atomic_load(turns[next]) == 0) {
    }
    t.atomic_store(turns[t.thread], 1);
  }
};

TEST(Spin, AChainOfWaitsComesToItsEnd) {
  for (const ThreadOrder order : kOrders) {
    std::vector<int> turns(512);
    launch(LaunchConfig{.block = {512}, .order = order, .seed = 9}, Chain{}, turns.data());
    EXPECT_EQ(std::count(turns.begin(), turns.end(), 1), 512);
  }
}

/// A lock of the whole grid, also between lanes of one warp.
struct Locked {
  void operator()(auto t, int* lock, int* sum) const {
    while (t.atomic_compare_exchange(*lock, 0, 1) != 0) {
    }
    t.fence();
    const int old = *sum;
    if (old % 3 == 0) t.atomic_load(*lock);  // time for others to come
    *sum = old + 1;
    t.fence();
    t.atomic_exchange(*lock, 0);
  }
};

TEST(Spin, ALockExcludesThreadsOfAllBlocks) {
  for (const ThreadOrder order : kOrders) {
    int lock = 0, sum = 0;
    launch(LaunchConfig{.grid = {8}, .block = {64}, .threads = 3, .order = order, .seed = 2},
           Locked{}, &lock, &sum);
    EXPECT_EQ(sum, 8 * 64);
  }
}

/// The lane that holds the lock waits for the others of its warp to ask for it.
struct LockInAWarp {
  void operator()(auto t, int* lock, int* asked, int* sum) const {
    if (t.lane == 5) {
      t.atomic_exchange(*lock, 1);
      while (t.atomic_load(*asked) < 31) {
      }
      t.atomic_exchange(*lock, 0);
    } else {
      while (t.atomic_load(*lock) == 0 && t.atomic_load(*asked) == 0) {
      }
      t.atomic_add(*asked, 1);
      while (t.atomic_compare_exchange(*lock, 0, 1) != 0) {
      }
      *sum += 1;
      t.fence();
      t.atomic_exchange(*lock, 0);
    }
  }
};

TEST(Spin, ALaneWaitsForALockThatAnotherLaneOfItsWarpHolds) {
  for (const ThreadOrder order : kOrders) {
    int lock = 0, asked = 0, sum = 0;
    launch(LaunchConfig{.block = {32}, .order = order, .seed = 1}, LockInAWarp{}, &lock, &asked,
           &sum);
    EXPECT_EQ(sum, 31);
  }
}

/// All blocks meet, twice: each runs while all others wait.
struct GridBarrier {
  void operator()(auto t, int blocks, int* arrived, int* out) const {
    for (int round = 1; round <= 2; ++round) {
      t.barrier();
      if (t.thread == 0) {
        t.fence();
        t.atomic_add(*arrived, 1);
        while (t.atomic_load(*arrived) < round * blocks) {
        }
        t.fence();
      }
      t.barrier();
      if (t.thread == 0) out[t.block] += *arrived >= round * blocks ? 1 : 100;
    }
  }
};

TEST(Spin, BlocksThatWaitForLaterBlocksLetThemStart) {
  for (const int threads : {1, 2}) {
    int arrived = 0;
    std::vector<int> out(12);
    launch(LaunchConfig{.grid = {12}, .block = {64}, .threads = threads}, GridBarrier{}, 12,
           &arrived, out.data());
    EXPECT_EQ(out, std::vector<int>(12, 2));
  }
}

TEST(Spin, AGridThatDoesNotFitIsADeadlockThatCountsTheBlocks) {
  int arrived = 0;
  std::vector<int> out(40);
  EXPECT_THAT(error_of([&] {
                launch(LaunchConfig{.grid = {40}, .block = {1024}, .threads = 1}, GridBarrier{}, 40,
                       &arrived, out.data());
              }),
              AllOf(HasSubstr("finds the same value forever"), HasSubstr("other blocks wait"),
                    HasSubstr("blocks have not started, since at most 16 run at one time")));
}

struct NobodySets {
  static constexpr const char* name = "nobody_sets";
  bool others_wait;
  void operator()(auto t, int* flag, int* spins) const {
    if (t.thread == 3) {
      while (t.atomic_load(*flag) == 0) t.atomic_add(*spins, 1);
    }
    if (others_wait) t.barrier();
  }
};

TEST(Spin, WhatNobodyCanEndIsASentenceWithBlockThreadAndLine) {
  for (const ThreadOrder order : kOrders) {
    for (const bool others_wait : {false, true}) {
      int flag = 0, spins = 0;
      EXPECT_THAT(error_of([&] {
                    launch(LaunchConfig{.grid = {3}, .block = {40}, .order = order, .seed = 6},
                           NobodySets{others_wait}, &flag, &spins);
                  }),
                  AllOf(HasSubstr("kernel nobody_sets, block ("),
                        HasSubstr("thread (3,0,0) finds the same value forever at"),
                        HasSubstr("spin_test.cpp:"),
                        HasSubstr(others_wait ? "39 of 40 threads wait at the barrier"
                                              : "39 of 40 threads have ended")));
    }
  }
}

/// A lock that is never given back; destructors run.
struct KeepsTheLock {
  void operator()(auto t, int* lock, int* unwound) const {
    struct Guard {
      int* count;
      ~Guard() { ++*count; }
    } const guard{unwound};
    while (t.atomic_exchange(*lock, 1) != 0) {
    }
  }
};

TEST(Spin, ALockThatIsNotGivenBackEndsTheLaunchAndUnwindsAll) {
  int lock = 0, unwound = 0;
  EXPECT_THAT(
      error_of([&] { launch(LaunchConfig{.block = {64}}, KeepsTheLock{}, &lock, &unwound); }),
      HasSubstr("63 of 64 threads find the same value again and again"));
  EXPECT_EQ(unwound, 64);
}

/// Gives up after this many looks.
struct GivesUp {
  void operator()(auto t, int* flag, int* out) const {
    int looks = 0;
    while (t.atomic_load(*flag) == 0 && looks < 100000) ++looks;
    out[t.thread] = looks;
  }
};

TEST(Spin, ALoopThatGivesUpIsNoDeadlock) {
  int flag = 0;
  std::vector<int> out(32);
  launch(LaunchConfig{.block = {32}}, GivesUp{}, &flag, out.data());
  EXPECT_EQ(out, std::vector<int>(32, 100000));
}

/// Sums up in the block that is last to come.
struct LastBlock {
  struct Shared {
    int is_last;
  };
  void operator()(auto t, int blocks, int* count, int* parts, int* out) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      parts[t.block] = 1 + t.block;
      t.fence();
      s.is_last = t.atomic_add(*count, 1) == blocks - 1 ? 1 : 0;
      t.fence();
    }
    t.barrier();
    if (s.is_last != 0) {
      int sum = 0;
      for (int i = 0; i < blocks; ++i) sum += parts[i];
      if (t.thread == 0) *out = sum;
    }
  }
};

TEST(Spin, TheLastBlockSeesWhatAllHaveWritten) {
  for (const ThreadOrder order : kOrders) {
    int count = 0, out = 0;
    std::vector<int> parts(64);
    launch(LaunchConfig{.grid = {64}, .block = {32}, .threads = 4, .order = order}, LastBlock{}, 64,
           &count, parts.data(), &out);
    EXPECT_EQ(out, 64 * 65 / 2);
  }
}

}  // namespace
}  // namespace tessera
