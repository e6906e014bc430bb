// Clusters on the CPU engine: blocks that run together, meet, arrive at each other's gates and copy
// into each other's shared storage; and errors between them, which are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "engine_support.hpp"
#include "support/refusal.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/gate.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera::clusters {
namespace {

using tessera::test::kOrders;
using tessera::testing::refusal;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Each block says where it is.
struct Ranks {
  static constexpr const char* name = "ranks";
  static constexpr Dim3 block{32}, cluster{2, 3};
  TESSERA_KERNEL void operator()(auto t, int* rank) const {
    cluster_barrier(t);
    if (t.thread == 0) rank[t.block] = t.cluster_rank() + 1;
  }
};

TEST(Cluster, CountsItsBlocksAlongX) {
  for (const auto order : kOrders) {
    std::vector<int> rank(4 * 6 * 2);
    launch({.grid = {4, 6, 2}, .block = Ranks::block, .order = order}, Ranks{}, rank.data());
    for (int i = 0; i < 48; ++i)
      EXPECT_EQ(rank[static_cast<std::size_t>(i)], i % 2 + 2 * (i / 4 % 3) + 1) << i;
  }
}

TEST(Cluster, AGridIsMadeOfWholeClusters) {
  std::vector<int> rank(64);
  EXPECT_THAT(refusal(
                  [&] {
                    launch(Dim3{4, 4}, Ranks{}, rank.data());
                  },
                  Category::argument),
              AllOf(HasSubstr("kernel ranks runs in clusters of (2,3,1) blocks"),
                    HasSubstr("got (4,4,1)")));
  launch(Dim3{0, 3}, Ranks{}, rank.data());
  EXPECT_EQ(rank, std::vector<int>(64));
}

using Numbers = UnitTile<float, row_major(8, 32)>;

enum class Mistake {
  none,
  no_first_meeting,   ///< a block reaches another one whose gates are not open
  no_last_meeting,    ///< a block ends while others arrive at its gates
  no_remote_arrival,  ///< who loads waits forever
  half_of_bytes,      ///< a block expects its own copies alone
  no_wait,            ///< and reads what has not arrived
  not_free            ///< and writes over what others read
};

/// Blocks of a cluster of four: each loads a quarter of every tile into all of them, and each adds
/// up all tiles.
struct AddShared {
  static constexpr const char* name = "add_shared";
  static constexpr Dim3 block{64}, cluster{4};
  static constexpr int blocks = 4;
  struct Shared {
    Numbers tiles[2][blocks];
    Gate full[2], free[2];
  };
  Mistake mistake = Mistake::none;

  TESSERA_KERNEL void operator()(auto t, const auto& in, float* out) const {
    auto& s = shared<Shared>(t);
    const int rank = t.cluster_rank();
    open_gates(t, s.full, s.free, blocks);
    if (t.thread == 0) publish_gates(t);
    if (mistake == Mistake::no_first_meeting) t.barrier();
    else cluster_barrier(t);
    const int count = static_cast<int>(tiles<0>(in, 8)) / blocks;
    Turn<2> turn;
    if (t.warp == 1) {
      for (int i = 0; i < count && t.lane == 0; ++i, turn.next()) {
        if (mistake != Mistake::not_free) wait(t, s.free[turn.stage], turn.before());
        expect(t, s.full[turn.stage],
               mistake == Mistake::half_of_bytes ? Numbers::bytes : blocks * Numbers::bytes);
        copy_bulk(t, tile<8, 32>(in, blocks * i + rank, 0), s.tiles[turn.stage][rank],
                  s.full[turn.stage], 0b1111u);
      }
    } else {
      float sum = 0;
      for (int i = 0; i < count; ++i, turn.next()) {
        if (mistake != Mistake::no_wait) wait(t, s.full[turn.stage], turn.phase);
        for (auto& each : s.tiles[turn.stage])
          for (int row = 0; row < 8; ++row) sum += each.view()(row, t.lane);
        t.warp_barrier();
        if (t.lane < blocks && (mistake != Mistake::no_remote_arrival || t.lane == rank))
          arrive(t, s.free[turn.stage], t.lane);
      }
      out[t.block * 32 + t.lane] = sum;
    }
    if (mistake != Mistake::no_last_meeting) cluster_barrier(t);
  }
};

/// The sums of rows of numbers by eight blocks, at [block][column].
std::vector<float> added(int rows, Mistake mistake, ThreadOrder order, std::uint64_t seed) {
  std::vector<float> numbers(static_cast<std::size_t>(rows * 32 + 4)), out(8 * 32, -1);
  auto* first = numbers.data();
  while (reinterpret_cast<std::uintptr_t>(first) % 16 != 0) ++first;
  std::iota(first, first + rows * 32, 0.f);
  const BulkMatrix<Numbers> in{software_map(bulk_fields<Numbers>(first, rows, 32, 32, 1)), rows,
                               32};
  launch({.grid = {8}, .block = AddShared::block, .order = order, .seed = seed}, AddShared{mistake},
         in, out.data());
  return out;
}

bool is_right(int rows, const std::vector<float>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int col = static_cast<int>(i) % 32, sum = 32 * (rows * (rows - 1) / 2) + rows * col;
    if (out[i] != static_cast<float>(sum)) return false;
  }
  return true;
}

TEST(Cluster, CopiesAndArrivalsReachEveryBlock) {
  for (const int rows : {32, 64, 96, 160}) {
    for (const auto order : kOrders) {
      for (std::uint64_t seed = 0; seed < 6; ++seed)
        ASSERT_TRUE(is_right(rows, added(rows, Mistake::none, order, seed)))
            << rows << " rows, " << name(order) << ", seed " << seed;
    }
  }
}

TEST(Cluster, AWaitThatNobodyEndsIsToldWithThePlacesOfAllBlocks) {
  for (const auto order : kOrders) {
    EXPECT_THAT(
        refusal([&] { added(160, Mistake::no_remote_arrival, order, 1); }, Category::kernel),
        AllOf(HasSubstr("a wait that no thread ends"), HasSubstr("lacks 3 of 4 arrivals"),
              HasSubstr("of the cluster"), HasSubstr("wait at the barrier of their cluster")));
    EXPECT_THAT(refusal([&] { added(160, Mistake::half_of_bytes, order, 1); }, Category::kernel),
                HasSubstr("cluster_test.cpp"));
  }
}

TEST(Cluster, ABlockThatIsNotThereYetOrAnyMoreIsTold) {
  for (const auto order : kOrders) {
    EXPECT_THAT(refusal([&] { added(160, Mistake::no_first_meeting, order, 1); }, Category::kernel),
                AllOf(HasSubstr("a gate of block ("), HasSubstr("that is not open"),
                      HasSubstr("let all blocks reach cluster_barrier()")));
    EXPECT_THAT(refusal([&] { added(160, Mistake::no_last_meeting, order, 1); }, Category::kernel),
                AllOf(HasSubstr("an arrival at block ("), HasSubstr("which has ended")));
  }
}

/// Copies that come late show a wait that is missing: the numbers are wrong, or a gate is.
TEST(Cluster, AMissingWaitShowsInTheOrderShuffled) {
  for (const auto mistake : {Mistake::no_wait, Mistake::not_free}) {
    int shown = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      try {
        shown += !is_right(160, added(160, mistake, ThreadOrder::shuffled, seed));
      } catch (const Error&) {
        ++shown;
      }
    }
    EXPECT_GT(shown, 0) << static_cast<int>(mistake);
  }
}

/// The last copy is on its way when the block that gets it ends.
struct LeaveEarly {
  static constexpr const char* name = "leave_early";
  static constexpr Dim3 block{32}, cluster{2};
  struct Shared {
    Numbers tile;
    Gate full;
  };
  TESSERA_KERNEL void operator()(auto t, const auto& in) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) open_gate(t, s.full, 1);
    cluster_barrier(t);
    if (t.cluster_rank() == 0 && t.thread == 0)
      copy_bulk(t, tile<8, 32>(in, 0, 0), s.tile, s.full, 0b10u);
    cluster_barrier(t);
  }
};

TEST(Cluster, ABlockThatEndsBeforeACopyArrivesIsTold) {
  alignas(16) float numbers[8 * 32] = {};
  const BulkMatrix<Numbers> in{software_map(bulk_fields<Numbers>(numbers, 8, 32, 32, 1)), 8, 32};
  int told = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    try {
      launch(
          {.grid = {2}, .block = LeaveEarly::block, .order = ThreadOrder::shuffled, .seed = seed},
          LeaveEarly{}, in);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("has ended while a copy of another block"));
      ++told;
    }
  }
  EXPECT_GT(told, 0);
}

/// Reaches a block that there is not.
struct Beyond {
  static constexpr Dim3 block{32}, cluster{2};
  struct Shared {
    Numbers tile;
    Gate full;
  };
  bool copies = false;
  TESSERA_KERNEL void operator()(auto t, const auto& in) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) open_gate(t, s.full, 1);
    cluster_barrier(t);
    if (t.thread == 0 && copies) copy_bulk(t, tile<8, 32>(in, 0, 0), s.tile, s.full, 0b101u);
    if (t.thread == 0) arrive(t, s.full, 2);
    cluster_barrier(t);
  }
};

TEST(Cluster, ARankThatThereIsNotIsTold) {
  alignas(16) float numbers[8 * 32] = {};
  const BulkMatrix<Numbers> in{software_map(bulk_fields<Numbers>(numbers, 8, 32, 32, 1)), 8, 32};
  EXPECT_THAT(refusal([&] { launch(Dim3{2}, Beyond{}, in); }, Category::kernel),
              AllOf(HasSubstr("an arrival at a block that the cluster does not have"),
                    HasSubstr("ranks 0 to 1"), HasSubstr("rank 2")));
  EXPECT_THAT(refusal([&] { launch(Dim3{2}, Beyond{true}, in); }, Category::kernel),
              HasSubstr("a copy into a block that the cluster does not have"));
}

/// The two halves of the barrier, and a thread that ends before it.
struct Halves {
  static constexpr Dim3 block{64}, cluster{2};
  int mistake = 0;
  TESSERA_KERNEL void operator()(auto t, int* in, int* out) const {
    if (t.thread == 63) return;
    for (int round = 0; round < 5; ++round) {
      in[t.block * 64 + t.thread] = round * 1000 + t.block * 64 + t.thread;
      if (mistake != 1) cluster_arrive(t);
      if (mistake == 2) cluster_arrive(t);
      cluster_wait(t);
      const int from = (t.block ^ 1) * 64 + 62 - t.thread;
      out[t.block * 64 + t.thread] += in[from] - from;
      cluster_barrier(t);
    }
  }
};

TEST(Cluster, ABarrierInHalvesOrdersWhatBlocksWrite) {
  for (const auto order : kOrders) {
    std::vector<int> in(256), out(256);
    launch({.grid = {4}, .block = Halves::block, .order = order}, Halves{}, in.data(), out.data());
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], i % 64 == 63 ? 0 : 10000);
  }
  std::vector<int> in(256), out(256);
  EXPECT_THAT(refusal([&] { launch(Dim3{2}, Halves{1}, in.data(), out.data()); }, Category::kernel),
              HasSubstr("waits for its cluster and has not arrived"));
  EXPECT_THAT(refusal([&] { launch(Dim3{2}, Halves{2}, in.data(), out.data()); }, Category::kernel),
              HasSubstr("arrives at the barrier of its cluster twice"));
}

/// Without a cluster it is a barrier of the block.
struct Alone {
  static constexpr Dim3 block{64};
  TESSERA_KERNEL void operator()(auto t, int* in, int* out) const {
    in[t.block * 64 + t.thread] = t.thread;
    cluster_barrier(t);
    out[t.block * 64 + t.thread] = in[t.block * 64 + 63 - t.thread] + t.cluster_rank();
  }
};

TEST(Cluster, OneBlockIsAClusterToo) {
  for (const auto order : kOrders) {
    std::vector<int> in(128), out(128);
    launch({.grid = {2}, .block = Alone::block, .order = order}, Alone{}, in.data(), out.data());
    for (int i = 0; i < 128; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 63 - i % 64);
  }
}

/// A block polls for what another one of its cluster, or of another cluster, writes later.
struct Poll {
  static constexpr const char* name = "poll";
  static constexpr Dim3 block{32}, cluster{2};
  bool is_set = true;
  TESSERA_KERNEL void operator()(auto t, int* flags, int from) const {
    if (t.thread != 0) return;
    if (t.block == from) {
      if (is_set) t.atomic_store(flags[0], 1);
    } else {
      while (t.atomic_load(flags[0]) == 0) {
      }
      t.atomic_add(flags[1], 1);
    }
  }
};

TEST(Cluster, APollIsAnsweredByAnyBlock) {
  for (const auto order : kOrders) {
    for (int from = 0; from < 8; ++from) {
      std::vector<int> flags(2);
      launch({.grid = {8}, .block = Poll::block, .threads = 1, .order = order}, Poll{},
             flags.data(), from);
      EXPECT_EQ(flags[1], 7);
    }
  }
  std::vector<int> flags(2);
  EXPECT_THAT(refusal([&] { launch(Dim3{4}, Poll{false}, flags.data(), 1); }, Category::kernel),
              AllOf(HasSubstr("finds the same value forever"), HasSubstr("of the cluster")));
}

/// What a thread throws ends the launch, and other blocks of its cluster unwind.
struct Throw {
  static constexpr const char* name = "throw";
  static constexpr Dim3 block{32}, cluster{4};
  std::atomic<int>* unwound;
  struct Counts {
    std::atomic<int>& count;
    ~Counts() { ++count; }
  };
  TESSERA_KERNEL void operator()(auto t) const {
    const Counts counts{*unwound};
    cluster_barrier(t);
    if (t.block == 2 && t.thread == 7) throw Error(Category::shape, "it is too large");
    cluster_barrier(t);
  }
};

TEST(Cluster, AnErrorOfOneBlockEndsAll) {
  for (const auto order : kOrders) {
    std::atomic<int> unwound{0};
    EXPECT_THAT(
        refusal(
            [&] { launch({.grid = {4}, .block = Throw::block, .order = order}, Throw{&unwound}); },
            Category::shape),
        HasSubstr("block (2,0,0), thread (7,0,0): it is too large"));
    EXPECT_EQ(unwound, 4 * 32);
  }
}

}  // namespace
}  // namespace tessera::clusters
