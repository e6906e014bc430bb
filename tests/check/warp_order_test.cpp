// Where the lanes of a warp part and join again: a GPU joins them at the first place that every way
// leads to, wherever that is in the source. The counts are made by hand.
#include <gtest/gtest.h>

#include <vector>

#include "tessera/check/check.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {
namespace {

constexpr int kLanes = 32;

struct OneWarp {
  static constexpr const char* name = "one_warp";
  static constexpr Dim3 block{kLanes};
  struct Shared {
    Tile<float, 1, kLanes> a, b;
  };
};

/// A is (1,1024), C is (1,32). The counters are the same in whatever order the threads run.
template <class Kernel>
check::Report checked(const Kernel& kernel) {
  const std::vector<float> a(1024, 1);
  std::vector<float> c(kLanes);
  const auto run = [&](ThreadOrder order) {
    return check::check({.threads = 1, .order = order, .seed = 3}, Dim3{1}, kernel,
                        tensor<kRowMajorMatrix>(a.data(), 1, 1024, 1024),
                        tensor<kRowMajorMatrix>(c.data(), 1, kLanes, kLanes));
  };
  check::Report out = run(ThreadOrder::forward);
  EXPECT_EQ(out.total, run(ThreadOrder::backward).total);
  EXPECT_EQ(out.total, run(ThreadOrder::shuffled).total);
  return out;
}

struct Choice : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    s.a(0, x) = x < 20 ? A(0, x) : 0.0f;
    C(0, x) = x % 2 == 0 ? s.a(0, x) : 0.0f;
  }
};

TEST(WarpOrder, AChoiceWithinALineIsOneStore) {
  const auto c = checked(Choice{}).total;
  EXPECT_EQ(c.global_load_requests, 1);
  EXPECT_EQ(c.shared_store_requests, 1);
  EXPECT_EQ(c.shared_load_requests, 1);
  EXPECT_EQ(c.global_store_requests, 1);
  EXPECT_EQ(c.partial_requests, 2);  // the two loads
}

float later(auto A, int x);

struct CallsBelow : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    float value = 0;
    if (x < 8) value = later(A, x);
    s.a(0, x) = value;
    s.b(0, x) = s.a(0, x);
    C(0, x) = s.b(0, x);
  }
};

struct CallsBelowTwice : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    s.a(0, x) = x < 8 ? later(A, x) : 0.0f;
    s.b(0, x) = x < 9 ? later(A, x) : 0.0f;
    C(0, x) = s.a(0, x) + s.b(0, x);
  }
};

struct LoopsBelow : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    float sum = 0;
    for (int i = 0; i < x; ++i) sum = sum + later(A, 32 * i + x);
    s.a(0, x) = sum;
    C(0, x) = s.a(0, x);
  }
};

/// More steps than are kept of a thread, and places that all lanes come to in between.
struct LongWay : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    float sum = 0;
    for (int i = 0; i < 200; ++i) {
      if (x == i % 32) sum = sum + later(A, i);
      s.a(0, x) = sum;
      sum = s.a(0, x);
    }
    if (x == 5)
      for (int i = 0; i < 1000; ++i) sum = sum + later(A, i);
    for (int i = 0; i < 500; ++i) s.b(0, x) = sum;
    C(0, x) = sum;
  }
};

float later(auto A, int x) { return A(0, x); }

TEST(WarpOrder, ACallOfWhatStandsLaterPartsTheLanesOnlyThere) {
  const auto c = checked(CallsBelow{}).total;
  EXPECT_EQ(c.global_load_requests, 1);
  EXPECT_EQ(c.shared_store_requests, 2);
  EXPECT_EQ(c.shared_load_requests, 2);
  EXPECT_EQ(c.global_store_requests, 1);
  EXPECT_EQ(c.partial_requests, 1);
}

TEST(WarpOrder, TwoCallsOfOneFunctionAreTwoWays) {
  const auto c = checked(CallsBelowTwice{}).total;
  EXPECT_EQ(c.global_load_requests, 2);
  EXPECT_EQ(c.shared_store_requests, 2);
  EXPECT_EQ(c.shared_load_requests, 2);
  EXPECT_EQ(c.global_store_requests, 1);
}

TEST(WarpOrder, LoopsOfDifferentLengthsEndTogether) {
  const auto c = checked(LoopsBelow{}).total;
  EXPECT_EQ(c.global_load_requests, kLanes - 1);  // as many as the longest
  EXPECT_EQ(c.shared_store_requests, 1);
  EXPECT_EQ(c.global_store_requests, 1);
}

TEST(WarpOrder, WhatIsLongerThanItsRecordJoinsToo) {
  const auto c = checked(LongWay{}).total;
  EXPECT_EQ(c.global_load_requests, 200 + 1000);
  EXPECT_EQ(c.shared_store_requests, 200 + 500);
  EXPECT_EQ(c.shared_load_requests, 200);
  EXPECT_EQ(c.global_store_requests, 1);
}

struct Nested : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    for (int round = 0; round < 2; ++round) {
      const int steps = (x + round) % 2 == 0 ? 3 : 5;
      float sum = 0;
      for (int i = 0; i < steps; ++i) sum = sum + A(0, i);
      s.a(0, x) = sum;
    }
    C(0, x) = s.a(0, x);
  }
};

TEST(WarpOrder, AnInnerLoopEndsBeforeTheOuterOneGoesOn) {
  const auto c = checked(Nested{}).total;
  EXPECT_EQ(c.global_load_requests, 5 + 5);
  EXPECT_EQ(c.shared_store_requests, 2);
}

struct Arms : OneWarp {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    float value = A(0, x);
    if (x < 4) return;
    if (x % 2 == 0) {
      s.a(0, x) = value;
      if (x % 4 == 0) value = s.a(0, x);
    } else {
      s.b(0, x) = value;
    }
    C(0, x) = value;
  }
};

TEST(WarpOrder, BothArmsOfABranchGoOneAfterTheOther) {
  const auto c = checked(Arms{}).total;
  EXPECT_EQ(c.global_load_requests, 1);
  EXPECT_EQ(c.shared_store_requests, 2);
  EXPECT_EQ(c.shared_load_requests, 1);
  EXPECT_EQ(c.global_store_requests, 1);
  EXPECT_EQ(c.active_lanes, 32 + 14 + 14 + 7 + 28);
}

}  // namespace
}  // namespace tessera
