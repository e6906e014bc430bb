// Gates on the CPU engine: who waits for what, bulk copies that fill tiles byte by byte, and waits
// that no thread ends, which are errors and never hang.
#include "tessera/simt/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal;

TEST(Turn, KeepsStageAndPhaseTogether) {
  Turn<3> step, jump;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(step.stage, i % 3);
    EXPECT_EQ(step.phase, static_cast<unsigned>(i / 3 % 2));
    Turn<3> there;
    there.skip(i);
    EXPECT_EQ(there, step);
    step.next();
  }
  jump.skip(4), jump.skip(7);
  Turn<3> eleven;
  eleven.skip(11);
  EXPECT_EQ(jump, eleven);
}

using Numbers = UnitTile<float, row_major(16, 32)>;

/// A ring of two stages: one thread loads, the others add up what arrives.
struct AddTiles {
  static constexpr const char* name = "add_tiles";
  static constexpr Dim3 block{64};
  struct Shared {
    Numbers tiles[2];
    Gate full[2], free[2];
  };
  int arrivals = 1;  ///< at `free`
  int forgotten = 0;
  bool expects = true;

  TESSERA_KERNEL void operator()(auto t, const auto& in, float* out) const {
    auto& s = shared<Shared>(t);
    open_gates(t, s.full, s.free, 1);
    if (t.thread == 0) publish_gates(t);
    t.barrier();
    Turn<2> turn;
    const int count = static_cast<int>(tiles<0>(in, 16));
    if (t.warp == 1) {
      if (t.lane != 0) return;
      for (int i = 0; i < count; ++i, turn.next()) {
        wait(t, s.free[turn.stage], turn.before());
        if (expects) expect(t, s.full[turn.stage], Numbers::bytes - forgotten);
        copy_bulk(t, tile<16, 32>(in, i, 0), s.tiles[turn.stage], s.full[turn.stage]);
      }
      return;
    }
    float sum = 0;
    for (int i = 0; i < count; ++i, turn.next()) {
      wait(t, s.full[turn.stage], turn.phase);
      for (int row = 0; row < 16; ++row) sum += s.tiles[turn.stage].view()(row, t.lane);
      t.warp_barrier();
      if (t.lane == 0)
        for (int k = 0; k < arrivals; ++k) arrive(t, s.free[turn.stage]);
    }
    out[t.lane] = sum;
  }
};

std::vector<float> added(int rows, const AddTiles& kernel, ThreadOrder order, std::uint64_t seed) {
  std::vector<float> numbers(static_cast<std::size_t>(rows * 32 + 4)), out(32, -1);
  auto* first = numbers.data();
  while (reinterpret_cast<std::uintptr_t>(first) % 16 != 0) ++first;
  std::iota(first, first + rows * 32, 0.f);
  const BulkMatrix<Numbers> in{software_map(bulk_fields<Numbers>(first, rows, 32, 32, 1)), rows,
                               32};
  launch({.grid = {1}, .block = AddTiles::block, .order = order, .seed = seed}, kernel, in,
         out.data());
  return out;
}

TEST(Gate, ARingOfStagesBringsEveryTile) {
  for (const int rows : {1, 16, 17, 80, 155}) {
    for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto out = added(rows, {}, order, seed);
        for (int col = 0; col < 32; ++col) {
          const int sum = 32 * (rows * (rows - 1) / 2) + rows * col;
          ASSERT_EQ(out[static_cast<std::size_t>(col)], static_cast<float>(sum)) << rows;
        }
      }
    }
  }
}

TEST(Gate, AWaitThatNobodyEndsIsTold) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::shuffled}) {
    EXPECT_THAT(refusal([&] { added(80, {.arrivals = 0}, order, 1); }, Category::kernel),
                AllOf(HasSubstr("a wait that no thread ends"), HasSubstr("lacks 1 of 1 arrivals"),
                      HasSubstr("wait for gate ")));
    EXPECT_THAT(refusal([&] { added(80, {.forgotten = -64}, order, 1); }, Category::kernel),
                AllOf(HasSubstr("lacks 64 bytes"), HasSubstr("gate_test.cpp")));
    EXPECT_THAT(refusal([&] { added(80, {.expects = false}, order, 1); }, Category::kernel),
                HasSubstr("lacks 1 of 1 arrivals and has 2048 bytes too many"));
  }
}

/// A second arrival while the bytes of the phase are still to come.
struct ArriveTwice {
  static constexpr Dim3 block{32};
  struct Shared {
    Gate gate;
  };
  TESSERA_KERNEL void operator()(auto t) const {
    auto& s = shared<Shared>(t);
    if (t.thread != 0) return;
    open_gate(t, s.gate, 1);
    expect(t, s.gate, 64);
    arrive(t, s.gate);
  }
};

TEST(Gate, MoreArrivalsThanItCountsAreTold) {
  EXPECT_THAT(refusal([] { launch(Dim3{1}, ArriveTwice{}); }, Category::kernel),
              HasSubstr("more arrivals at a gate than it counts"));
}

/// Opens a gate so often, with this count, and expects so many bytes.
struct OpensAndExpects {
  static constexpr Dim3 block{32};
  struct Shared {
    Gate gate, other;
  };
  int times, count, bytes;
  TESSERA_KERNEL void operator()(auto t) const {
    auto& s = shared<Shared>(t);
    if (t.thread != 0) return;
    open_gate(t, s.other, 1);
    for (int i = 0; i < times; ++i) open_gate(t, s.gate, count);
    expect(t, s.gate, bytes);
  }
};

TEST(Gate, ImpossibleCountsAndASecondOpeningAreTold) {
  constexpr int most = (1 << 20) - 1;
  const auto opens = [](int times, int count, int bytes) {
    launch(Dim3{3}, OpensAndExpects{times, count, bytes});  // the next block opens them anew
  };
  opens(1, 1, 0);
  opens(1, most, most);
  const auto refused = [&](int times, int count, int bytes) {
    return refusal([&] { opens(times, count, bytes); }, Category::kernel);
  };
  EXPECT_THAT(refused(2, 1, 0), HasSubstr("a gate is opened that is open"));
  for (const int count : {0, -1, most + 1})
    EXPECT_THAT(refused(1, count, 0), AllOf(HasSubstr("cannot count that many arrivals"),
                                            HasSubstr("1 to 1048575"), HasSubstr(cat(count))));
  for (const int bytes : {-1, most + 1})
    EXPECT_THAT(refused(1, 1, bytes),
                AllOf(HasSubstr("cannot expect that many bytes"), HasSubstr(cat(bytes))));
}

struct WaitAtClosed {
  static constexpr Dim3 block{32};
  struct Shared {
    Gate gate;
  };
  TESSERA_KERNEL void operator()(auto t) const { wait(t, shared<Shared>(t).gate, 0); }
};

TEST(Gate, OneThatIsNotOpenIsTold) {
  EXPECT_THAT(refusal([] { launch(Dim3{1}, WaitAtClosed{}); }, Category::kernel),
              HasSubstr("a gate is used that is not open"));
}

/// Copies to bytes that are not aligned as a UnitTile is.
struct CopyShifted {
  static constexpr const char* name = "copy_shifted";
  static constexpr Dim3 block{32};
  struct Shared {
    alignas(1024) std::byte bytes[2 * Numbers::bytes];
    Gate full;
  };
  int shift;

  TESSERA_KERNEL void operator()(auto t, const auto& in) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.full, 1);
      publish_gates(t);
      expect(t, s.full, Numbers::bytes);
      t.async().copy(&in.map, 0, 0, s.bytes + shift, &s.full, Here::current());
      wait(t, s.full, 0);
    }
  }
};

TEST(BulkCopies, BeginAtLinesOfSharedMemory) {
  alignas(16) static const float numbers[16 * 32] = {};
  const BulkMatrix<Numbers> in{software_map(bulk_fields<Numbers>(numbers, 16, 32, 32, 1)), 16, 32};
  const auto copy = [&](int shift) {
    launch({.grid = {1}, .block = CopyShifted::block}, CopyShifted{shift}, in);
  };
  copy(0);
  copy(256);
  for (const int shift : {16, 64, 1040}) {
    EXPECT_THAT(refusal([&] { copy(shift); }, Category::kernel),
                AllOf(HasSubstr("a bulk copy does not begin where it may in shared memory"),
                      HasSubstr("a multiple of 128 bytes"), HasSubstr(cat("byte ", shift))))
        << shift;
  }
}

/// A tile that begins at this row and column, by a copy and by a copy into blocks of a cluster.
struct CopyFrom {
  static constexpr const char* name = "copy_from";
  static constexpr Dim3 block{32};
  struct Shared {
    Numbers tile;
    Gate full;
  };
  int row, col;
  bool to_cluster;

  TESSERA_KERNEL void operator()(auto t, const auto& in) const {
    auto& s = shared<Shared>(t);
    if (t.thread != 0) return;
    open_gate(t, s.full, 1);
    publish_gates(t);
    expect(t, s.full, Numbers::bytes);
    if (to_cluster) copy_bulk(t, tile_from(in, row, col), s.tile, s.full, 1u);
    else copy_bulk(t, tile_from(in, row, col), s.tile, s.full);
    wait(t, s.full, 0);
  }
};

TEST(BulkCopies, BeginAtChunksOfTheirMatrix) {
  alignas(16) static const float numbers[16 * 32] = {};
  const BulkMatrix<Numbers> in{software_map(bulk_fields<Numbers>(numbers, 16, 32, 32, 1)), 16, 32};
  for (const bool to_cluster : {false, true}) {
    const auto copy = [&](int row, int col) {
      launch({.grid = {1}, .block = CopyFrom::block}, CopyFrom{row, col, to_cluster}, in);
    };
    for (const int row : {-17, -3, 0, 1, 16}) {
      for (const int col : {-36, -4, 0, 8, 32, 100}) copy(row, col);
      for (const int col : {-5, -3, 1, 2, 30}) {
        EXPECT_THAT(
            refusal([&] { copy(row, col); }, Category::kernel),
            AllOf(HasSubstr("a bulk copy does not begin where it may in its matrix"),
                  HasSubstr("a multiple of 4 elements (16 bytes)"), HasSubstr(cat("element ", col)),
                  HasSubstr(cat("begin the tile at ", (col + 8) / 4 * 4 - 8))));
      }
    }
  }
}

/// Writes a tile to `out`, row by row.
struct CopyOut {
  static constexpr const char* name = "copy_out";
  static constexpr Dim3 block{32};
  struct Shared {
    Numbers tile;
    Gate full;
  };
  TESSERA_KERNEL void operator()(auto t, const auto& in, float* out) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.full, 1);
      publish_gates(t);
    }
    t.barrier();
    if (t.thread == 0) {
      expect(t, s.full, Numbers::bytes);
      copy_bulk(t, tile<16, 32>(in, 0, 0), s.tile, s.full);
    }
    wait(t, s.full, 0);
    for (int row = 0; row < 16; ++row) out[row * 32 + t.lane] = s.tile.view()(row, t.lane);
  }
};

TEST(BulkCopies, RoundToTf32WithTiesToEven) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::pair<float, float> rounded[] = {{1 + 0x1p-11f, 1},
                                                 {1 + 0x3p-11f, 1 + 0x1p-9f},
                                                 {-1 - 0x1p-11f, -1},
                                                 {-1 - 0x3p-11f, -1 - 0x1p-9f},
                                                 {1 + 0x1.002p-11f, 1 + 0x1p-10f},
                                                 {1 + 0x1.ffep-12f, 1},
                                                 {2 - 0x1p-23f, 2},
                                                 {0x1.fffffep127f, infinity},
                                                 {-infinity, -infinity}};
  alignas(16) float numbers[16 * 32] = {}, out[16 * 32];
  for (std::size_t i = 0; i < std::size(rounded); ++i) numbers[i * 33] = rounded[i].first;
  numbers[32] = std::numeric_limits<float>::quiet_NaN();
  const BulkMatrix<Numbers> in{
      software_map(bulk_fields<Numbers>(numbers, 16, 32, 32, 1, Rounding::tf32)), 16, 32};
  launch({.grid = {1}, .block = CopyOut::block}, CopyOut{}, in, static_cast<float*>(out));
  for (std::size_t i = 0; i < std::size(rounded); ++i)
    EXPECT_EQ(out[i * 33], rounded[i].second) << rounded[i].first;
  EXPECT_TRUE(std::isnan(out[32]));
}

struct StoreTile {
  static constexpr const char* name = "store_tile";
  static constexpr Dim3 block{32};
  struct Shared {
    Numbers tile;
  };
  int col = 0;
  TESSERA_KERNEL void operator()(auto t, const auto& to) const {
    auto& s = shared<Shared>(t);
    if (t.thread != 0) return;
    s.tile = {};
    fence_async(t);
    store_bulk(t, s.tile, tile_from(to, 0, col));
    commit_bulk(t);
    wait_bulk<0>(t);
  }
};

TEST(BulkStores, TakeRowsOfWholePieces) {
  std::vector<float> to(16 * 32, 1);
  const auto store = [&](index_t cols, int col = 0) {
    const BulkMatrix<Numbers> matrix{software_map(bulk_fields<Numbers>(to.data(), 16, cols, 32, 1)),
                                     16, static_cast<int>(cols)};
    launch({.grid = {1}, .block = StoreTile::block}, StoreTile{col}, matrix);
  };
  store(28);
  EXPECT_EQ(to[27], 0);
  EXPECT_EQ(to[28], 1);
  EXPECT_THAT(refusal([&] { store(30); }, Category::kernel),
              AllOf(HasSubstr("rows of 120 bytes"), HasSubstr("a multiple of 16 bytes")));
  EXPECT_THAT(refusal([&] { store(28, 2); }, Category::kernel),
              AllOf(HasSubstr("a bulk store does not begin where it may in its matrix"),
                    HasSubstr("element 2")));
}

}  // namespace
}  // namespace tessera
