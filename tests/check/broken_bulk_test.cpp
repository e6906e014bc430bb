// Bulk copies and stores under the checker: of several blocks to one matrix, after ordinary stores
// without a fence, and of a matrix that is larger than its memory. Each beside its clean twin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/report_text.hpp"
#include "tessera/check/check.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera::broken {
namespace {

using check::Kind;
using ::testing::HasSubstr;

constexpr ThreadOrder kBulkOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                       ThreadOrder::shuffled, ThreadOrder::late};
constexpr int kRows = 16, kCols = 32, kElements = kRows * kCols;
using Numbers = UnitTile<float, row_major(kRows, kCols)>;

/// The findings of this kind.
std::vector<check::Finding> of_kind(const check::Report& report, Kind kind) {
  std::vector<check::Finding> out;
  for (const auto& each : report.findings)
    if (each.kind == kind) out.push_back(each);
  return out;
}

/// A matrix of two tiles, one below the other.
struct TwoTiles {
  alignas(128) float numbers[2 * kElements] = {};

  BulkMatrix<Numbers> bulk(int rows = 2 * kRows) {
    return {software_map(bulk_fields<Numbers>(numbers, rows, kCols, kCols, 1)), rows, kCols};
  }
  auto plain() {
    return tensor<kRowMajorMatrix>(static_cast<float*>(numbers), 2 * kRows, kCols, kCols);
  }
};

/// What a block does to its tile of the matrix; with `is_shared` all blocks have the first one.
enum class Does { bulk_store, bulk_load, store, load };

struct BlocksAtOneTile {
  static constexpr const char* name = "blocks_at_one_tile";
  static constexpr Dim3 block{64};
  struct Shared {
    Numbers tile;
    Gate gate;
  };
  Does first, second;
  bool is_shared = true, meets = false;

  void operator()(auto t, const BulkMatrix<Numbers>& matrix, auto plain) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.gate, 1);
      publish_gates(t);
    }
    const auto to = s.tile.view();
    for (int i = t.thread; i < kElements; i += 64) to(i / kCols, i % kCols) = float(t.block.x);
    fence_async(t);
    if (meets) meet<1>(t, 64);
    else t.barrier();
    const int at = is_shared ? 0 : t.block.x;
    const Does does = t.block.x == 0 ? first : second;
    if (t.thread != 0) return;
    if (does == Does::bulk_store) {
      store_bulk(t, s.tile, tile<kRows, kCols>(matrix, at, 0));  // at bulk_store
      commit_bulk(t);
      wait_bulk<0>(t);
    } else if (does == Does::bulk_load) {
      expect(t, s.gate, Numbers::bytes);
      copy_bulk(t, tile<kRows, kCols>(matrix, at, 0), s.tile, s.gate);
      wait(t, s.gate, 0);
    } else if constexpr (!std::is_same_v<decltype(plain), int>) {
      if (does == Does::store) plain(kRows * at, 0) = 7.0f;
      else to(0, 0) = float(plain(kRows * at, 0));
    }
  }
};

check::Report two_blocks(const BlocksAtOneTile& kernel, ThreadOrder order) {
  TwoTiles c;
  check::Options options;
  options.order = order, options.seed = 1;
  const bool is_plain = kernel.first >= Does::store || kernel.second >= Does::store;
  return is_plain ? check::check(options, Dim3{2}, kernel, c.bulk(), c.plain())
                  : check::check(options, Dim3{2}, kernel, c.bulk(), 0);
}

/// Nothing orders blocks, whichever of them uses bulk operations and whether or not its threads
/// have clocks of fences and named barriers.
TEST(BulkBlocks, RaceAtOneTile) {
  const std::pair<Does, Does> kPairs[] = {
      {Does::bulk_store, Does::bulk_store}, {Does::bulk_store, Does::bulk_load},
      {Does::bulk_load, Does::bulk_store},  {Does::bulk_store, Does::store},
      {Does::store, Does::bulk_store},      {Does::bulk_store, Does::load},
      {Does::load, Does::bulk_store},       {Does::bulk_load, Does::store},
      {Does::store, Does::bulk_load}};
  for (const auto order : kBulkOrders) {
    for (const bool meets : {false, true}) {
      for (const auto& [first, second] : kPairs) {
        const auto report = two_blocks({first, second, true, meets}, order);
        const auto races = of_kind(report, Kind::race);
        ASSERT_EQ(races.size(), 1u) << name(order) << meets << int(first) << int(second) << "\n"
                                    << text_of(report);
        EXPECT_EQ(races[0].memory, check::Memory::global);
        EXPECT_GT(races[0].location.line, 0);
        EXPECT_GT(races[0].other.line, 0);
        EXPECT_THAT(races[0].problem, HasSubstr("of block (0,0,0)"));
        EXPECT_THAT(races[0].problem, HasSubstr("of block (1,0,0)"));
        const auto apart = two_blocks({first, second, false, meets}, order);
        EXPECT_TRUE(apart.summary.clean) << text_of(apart);
      }
      const auto loads = two_blocks({Does::bulk_load, Does::bulk_load, true, meets}, order);
      EXPECT_TRUE(loads.summary.clean) << text_of(loads);
    }
  }
}

/// A block stores in bulk and says so; the other loads in bulk what it has stored.
struct HandsOver {
  static constexpr const char* name = "hands_over";
  static constexpr Dim3 block{32};
  struct Shared {
    Numbers tile;
    Gate gate;
  };
  bool fences = true, waits = true;

  void operator()(auto t, const BulkMatrix<Numbers>& matrix, auto flag) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.gate, 1);
      publish_gates(t);
    }
    const auto to = s.tile.view();
    for (int i = t.thread; i < kElements; i += 32) to(i / kCols, i % kCols) = 1.0f;
    fence_async(t);
    t.barrier();
    if (t.thread != 0) return;
    if (t.block.x == 0) {
      store_bulk(t, s.tile, tile<kRows, kCols>(matrix, 0, 0));
      commit_bulk(t);
      if (waits) wait_bulk<0>(t);
      else wait_bulk_read<0>(t);
      if (fences) t.fence();
      t.atomic_store(flag(0), 1);
    } else {
      while (t.atomic_load(flag(0)) == 0) {
      }
      if (fences) t.fence();
      expect(t, s.gate, Numbers::bytes);
      copy_bulk(t, tile<kRows, kCols>(matrix, 0, 0), s.tile, s.gate);
      wait(t, s.gate, 0);
    }
  }
};

/// After a wait for the end of the stores, not of their reads.
TEST(BulkBlocks, AreOrderedByFencesWithAnAtomic) {
  for (const auto& [fences, waits] : {std::pair{true, true}, {false, true}, {true, false}}) {
    TwoTiles c;
    int flag[1] = {};
    const auto report = check::check({}, Dim3{2}, HandsOver{fences, waits}, c.bulk(),
                                     tensor<row_major(dynamic)>(static_cast<int*>(flag), 1));
    EXPECT_EQ(of_kind(report, Kind::race).empty(), fences && waits) << text_of(report);
    EXPECT_EQ(report.summary.clean, fences && waits) << text_of(report);
  }
}

/// Which fence the threads call after their stores, before the barrier.
enum class Fence { none, shared, global, behind_barrier };

/// Ordinary stores to a tile, and a bulk copy over them.
struct CopiesOverStores {
  static constexpr const char* name = "copies_over_stores";
  static constexpr Dim3 block{64};
  struct Shared {
    Numbers tile;
    Gate gate;
  };
  Fence fence;
  bool opens_first;

  void operator()(auto t, const BulkMatrix<Numbers>& matrix) const {
    auto& s = shared<Shared>(t);
    const auto open = [&] {
      if (t.thread != 0) return;
      open_gate(t, s.gate, 1);
      publish_gates(t);
    };
    if (opens_first) open();
    const auto to = s.tile.view();
    for (int i = t.thread; i < kElements; i += 64) to(i / kCols, i % kCols) = 0.0f;
    if (!opens_first) open();
    if (fence == Fence::shared) fence_async(t);
    if (fence == Fence::global) fence_async_global(t);
    t.barrier();
    if (fence == Fence::behind_barrier) fence_async(t);
    if (t.thread == 0) {
      expect(t, s.gate, Numbers::bytes);
      copy_bulk(t, tile<kRows, kCols>(matrix, 0, 0), s.tile, s.gate);
    }
    wait(t, s.gate, 0);
    to(t.thread / kCols, t.thread % kCols) = float(to(t.thread / kCols, t.thread % kCols)) + 1;
  }
};

/// Ordinary stores to a matrix, then a bulk copy from it or a bulk store over them.
struct BulkAfterStores {
  static constexpr const char* name = "bulk_after_stores";
  static constexpr Dim3 block{64};
  struct Shared {
    Numbers tile;
    Gate gate;
  };
  Fence fence;
  bool loads;

  void operator()(auto t, const BulkMatrix<Numbers>& matrix, auto plain) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.gate, 1);
      publish_gates(t);
    }
    const auto to = s.tile.view();
    for (int i = t.thread; i < kElements; i += 64) {
      plain(i / kCols, i % kCols) = 2.0f;
      if (!loads) to(i / kCols, i % kCols) = 3.0f;
    }
    if (!loads || fence == Fence::shared) fence_async(t);
    if (fence == Fence::global) fence_async_global(t);
    t.barrier();
    if (fence == Fence::behind_barrier) fence_async_global(t);
    if (t.thread != 0) return;
    if (loads) {
      expect(t, s.gate, Numbers::bytes);
      copy_bulk(t, tile<kRows, kCols>(matrix, 0, 0), s.tile, s.gate);
      wait(t, s.gate, 0);
    } else {
      store_bulk(t, s.tile, tile<kRows, kCols>(matrix, 0, 0));
      commit_bulk(t);
      wait_bulk<0>(t);
    }
  }
};

void expect_missing_fence(const check::Report& report, bool is_missing, const char* fence) {
  const auto found = of_kind(report, Kind::missing_async_fence);
  ASSERT_EQ(found.size(), is_missing ? 1u : 0u) << text_of(report);
  if (!is_missing) {
    EXPECT_TRUE(report.summary.clean) << text_of(report);
    return;
  }
  EXPECT_GT(found[0].location.line, 0);
  EXPECT_GT(found[0].other.line, 0);
  EXPECT_LT(found[0].other.line, found[0].location.line);
  EXPECT_EQ(found[0].element.size(), 2u);
  EXPECT_THAT(found[0].problem, HasSubstr(fence));
  EXPECT_THAT(found[0].hint, HasSubstr(fence));
}

/// The order of an ordinary store and a later bulk operation on the same bytes needs the fence of
/// the async proxy, for copies that write as for those that read (PTX ISA 8.6 "Async proxy").
TEST(AsyncFence, BelongsBetweenStoresAndTheCopyOverThem) {
  for (const auto order : kBulkOrders) {
    for (const bool opens_first : {true, false}) {
      for (const Fence fence : {Fence::none, Fence::shared, Fence::global, Fence::behind_barrier}) {
        TwoTiles a;
        check::Options options;
        options.order = order;
        expect_missing_fence(
            check::check(options, Dim3{1}, CopiesOverStores{fence, opens_first}, a.bulk()),
            fence != Fence::shared, "fence_async(t)");
      }
    }
  }
}

TEST(AsyncFence, OfGlobalMemoryBelongsBetweenStoresAndBulkOperations) {
  for (const auto order : kBulkOrders) {
    for (const bool loads : {true, false}) {
      for (const Fence fence : {Fence::none, Fence::shared, Fence::global, Fence::behind_barrier}) {
        TwoTiles c;
        check::Options options;
        options.order = order;
        expect_missing_fence(
            check::check(options, Dim3{1}, BulkAfterStores{fence, loads}, c.bulk(), c.plain()),
            fence != Fence::global, "fence_async_global(t)");
      }
    }
  }
}

/// A bulk copy reads a tile that another thread stores in bulk.
struct LoadsAndStores {
  static constexpr const char* name = "loads_and_stores";
  static constexpr Dim3 block{64};
  struct Shared {
    Numbers from, to;
    Gate gate;
  };
  bool loads_first, meets;

  void operator()(auto t, const BulkMatrix<Numbers>& matrix) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.gate, 1);
      publish_gates(t);
    }
    const auto from = s.from.view();
    for (int i = t.thread; i < kElements; i += 64) from(i / kCols, i % kCols) = 1.0f;
    fence_async(t);
    t.barrier();
    if (loads_first) load(t, s, matrix);
    else store(t, s, matrix);
    if (meets) t.barrier();
    if (loads_first) store(t, s, matrix);
    else load(t, s, matrix);
  }

 private:
  void load(auto t, auto& s, const auto& matrix) const {
    if (t.thread != 0) return;
    expect(t, s.gate, Numbers::bytes);
    copy_bulk(t, tile<kRows, kCols>(matrix, 0, 0), s.to, s.gate);
    wait(t, s.gate, 0);
  }
  void store(auto t, auto& s, const auto& matrix) const {
    if (t.thread != 32) return;
    store_bulk(t, s.from, tile<kRows, kCols>(matrix, 0, 0));
    commit_bulk(t);
    wait_bulk<0>(t);
  }
};

TEST(BulkCopies, MeetBulkStoresOfTheirBlock) {
  for (const auto order : kBulkOrders) {
    for (const bool loads_first : {true, false}) {
      for (const bool meets : {true, false}) {
        TwoTiles c;
        check::Options options;
        options.order = order;
        const auto report =
            check::check(options, Dim3{1}, LoadsAndStores{loads_first, meets}, c.bulk());
        EXPECT_EQ(report.summary.clean, meets) << name(order) << loads_first << text_of(report);
      }
    }
  }
}

struct CopiesTile {
  static constexpr const char* name = "copies_tile";
  static constexpr Dim3 block{32};
  struct Shared {
    Numbers tile;
    Gate gate;
  };
  void operator()(auto t, const BulkMatrix<Numbers>& from, const BulkMatrix<Numbers>& to, auto,
                  auto) const {
    auto& s = shared<Shared>(t);
    if (t.thread != 0) return;
    open_gate(t, s.gate, 1);
    publish_gates(t);
    expect(t, s.gate, Numbers::bytes);
    copy_bulk(t, tile<kRows, kCols>(from, 2, 0), s.tile, s.gate);
    wait(t, s.gate, 0);
    store_bulk(t, s.tile, tile<kRows, kCols>(to, 2, 0));
    commit_bulk(t);
    wait_bulk<0>(t);
  }
};

/// The memory is that of a tensor of two tiles; the maps say that there are three.
TEST(BulkCopies, EndWithTheMemoryOfTheirMatrix) {
  struct {
    TwoTiles a, between, c, behind;
  } memory;
  auto& [a, between, c, behind] = memory;
  for (const int rows : {2 * kRows, 3 * kRows}) {
    const auto report =
        check::check({}, Dim3{1}, CopiesTile{}, a.bulk(rows), c.bulk(rows), a.plain(), c.plain());
    const auto found = of_kind(report, Kind::out_of_bounds);
    ASSERT_EQ(found.size(), rows == 2 * kRows ? 0u : 2u) << text_of(report);
    for (const auto& each : found) EXPECT_THAT(each.problem, HasSubstr("after the end of"));
  }
  for (const float each : behind.numbers) EXPECT_EQ(each, 0);  // the store is not executed
}

}  // namespace
}  // namespace tessera::broken
