// Sectors and wavefronts: the values that NVIDIA's documents, staff and other people's measurements
// give, hand counts of small kernels, and a second counter, written apart and slow, over random
// warps.
#include "tessera/check/memory_rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "tessera/core/random.hpp"
#include "tessera/core/text.hpp"

using namespace tessera;
using namespace tessera::check;

namespace {

using Lanes = std::array<std::uint64_t, kWarpLanes>;
using Address = std::function<std::int64_t(int)>;

Lanes lanes_of(const Address& address) {
  Lanes out;
  for (int t = 0; t < kWarpLanes; ++t) out[t] = static_cast<std::uint64_t>(address(t));
  return out;
}

/// Sectors of a warp whose lane t touches `bytes` bytes at address(t) after an aligned line.
int sectors(int bytes, const Address& address, std::uint32_t active = kAllLanes) {
  const Lanes lanes = lanes_of([&](int t) { return (1 << 20) + address(t); });
  return global_access({lanes.data(), bytes, active}).sectors;
}

/// A lane that touches element(t), in elements of `bytes` bytes.
Address element(int bytes, const Address& number) {
  return [bytes, number](int t) { return bytes * number(t); };
}

TEST(GlobalSectors, ContiguousLanesTouchTheirBytesOnly) {
  for (const int bytes : {1, 2, 4, 8, 16})
    EXPECT_EQ(sectors(bytes, [=](int t) { return bytes * t; }), bytes) << bytes;
}

TEST(GlobalSectors, TheOrderOfTheLanesDoesNotMatter) {
  EXPECT_EQ(sectors(4, [](int t) { return 4 * (31 - t); }), 4);
  EXPECT_EQ(sectors(4, [](int t) { return 4 * (t ^ 21); }), 4);
  EXPECT_EQ(sectors(4, [](int t) { return 4 * (t * 7 % 32); }), 4);
}

TEST(GlobalSectors, AShiftedBaseTouchesOneMore) {
  EXPECT_EQ(sectors(4, [](int t) { return 4 * t + 4; }), 5);
  EXPECT_EQ(sectors(4, [](int t) { return 4 * t + 16; }), 5);
  EXPECT_EQ(sectors(2, [](int t) { return 2 * t + 2; }), 3);
  EXPECT_EQ(sectors(16, [](int t) { return 16 * t + 16; }), 17);
}

TEST(GlobalSectors, StridesSpreadUpToOneSectorForEachLane) {
  EXPECT_EQ(sectors(4, [](int t) { return 4 * 2 * t; }), 8);
  EXPECT_EQ(sectors(4, [](int t) { return 4 * 3 * t; }), 12);
  EXPECT_EQ(sectors(4, [](int t) { return 4 * 8 * t; }), 32);
  EXPECT_EQ(sectors(16, [](int t) { return 16 * 2 * t; }), 32);
}

TEST(GlobalSectors, OneAddressIsOneSector) {
  EXPECT_EQ(sectors(4, [](int) { return 64; }), 1);
  EXPECT_EQ(sectors(16, [](int) { return 64; }), 1);
}

TEST(GlobalSectors, OnlyActiveLanesCount) {
  const Address contiguous = [](int t) { return 4 * t; };
  EXPECT_EQ(sectors(4, contiguous, 0x0000ffff), 2);
  EXPECT_EQ(sectors(4, contiguous, 0x00000001), 1);
  EXPECT_EQ(sectors(4, contiguous, 0x80000000), 1);
  EXPECT_EQ(sectors(4, contiguous, 0xaaaaaaaa), 4);
  EXPECT_EQ(sectors(4, contiguous, 0), 0);
}

TEST(GlobalSectors, RowsOfATile) {
  for (const int pitch : {16, 64, 1024}) {  // floats; each row begins at a sector
    EXPECT_EQ(sectors(4, [=](int t) { return 4 * (t / 16 * pitch + t % 16); }), 4) << pitch;
    EXPECT_EQ(sectors(4, [=](int t) { return 4 * (t / 8 * pitch + t % 8); }), 4) << pitch;
  }
}

TEST(GlobalSectors, BlocksOfThreeByThreeInANineByNineMatrix) {
  const auto block = [](int row, int column) {  // nine lanes, x fastest
    return sectors(
        4, [=](int t) { return 4 * ((3 * row + t / 3) * 9 + 3 * column + t % 3); }, 0x1ff);
  };
  EXPECT_EQ(block(0, 0), 3);
  EXPECT_EQ(block(0, 2), 4);
  EXPECT_EQ(block(2, 2), 4);
}

TEST(GlobalSectors, AnAccessAcrossTheEndOfASectorTouchesBoth) {
  EXPECT_EQ(sectors(4, [](int) { return 30; }), 2);
  EXPECT_EQ(sectors(4, [](int t) { return 4 * t + 2; }), 5);
}

TEST(GlobalSectors, IdealIsTheRoomThatTheDistinctBytesNeed) {
  const auto ideal = [](int bytes, const Address& address, std::uint32_t active = kAllLanes) {
    const Lanes lanes = lanes_of(address);
    return global_access({lanes.data(), bytes, active}).ideal;
  };
  EXPECT_EQ(ideal(4, [](int t) { return 4 * t; }), 4);
  EXPECT_EQ(ideal(4, [](int t) { return 4 * t + 4; }), 4);  // 5 sectors
  EXPECT_EQ(ideal(4, [](int t) { return 32 * t; }), 4);     // 32 sectors
  EXPECT_EQ(ideal(4, [](int) { return 32; }), 1);
  EXPECT_EQ(ideal(4, [](int t) { return 400 * (t % 2); }), 1);  // 8 bytes in 2 sectors
  EXPECT_EQ(ideal(16, [](int t) { return 64 * (31 - t); }), 16);
  EXPECT_EQ(ideal(
                4, [](int t) { return 4 * t; }, 0x3ff),
            2);
}

/// Loads and stores of one pattern.
void expect_wavefronts(int loads, int stores, int bytes, const Address& number,
                       const char* pattern) {
  const Lanes lanes = lanes_of(element(bytes, number));
  EXPECT_EQ(shared_load({lanes.data(), bytes}).wavefronts, loads) << bytes << " B: " << pattern;
  EXPECT_EQ(shared_store({lanes.data(), bytes}).wavefronts, stores) << bytes << " B: " << pattern;
}

#define WAVEFRONTS(loads, stores, bytes, number) \
  expect_wavefronts(                             \
      loads, stores, bytes, [](int t) -> std::int64_t { return number; }, #number)

TEST(SharedWavefronts, FourBytes) {
  WAVEFRONTS(1, 1, 4, t);
  WAVEFRONTS(1, 1, 4, 33 * t);
  WAVEFRONTS(1, 1, 4, 31 * t);
  WAVEFRONTS(1, 1, 4, 3 * t);
  WAVEFRONTS(1, 1, 4, 5 + 0 * t);
  WAVEFRONTS(2, 2, 4, t == 31 ? 32 : 0);
  WAVEFRONTS(2, 2, 4, 2 * t);
  WAVEFRONTS(4, 4, 4, 4 * t);
  WAVEFRONTS(32, 32, 4, 32 * t);
}

TEST(SharedWavefronts, TilesOfSixteenColumns) {
  WAVEFRONTS(8, 8, 4, t % 16 * 16 + t / 16);
  WAVEFRONTS(2, 2, 4, t % 16 * 17 + t / 16);  // a pitch of 17 is not free
  for (int column = 0; column < 16; ++column) {
    const Lanes lanes = lanes_of([&](int t) { return 4 * (t / 16 * 16 + column); });
    EXPECT_EQ(shared_load({lanes.data(), 4}).wavefronts, 1) << "A of a 16x16 block, " << column;
  }
}

TEST(SharedWavefronts, NarrowElementsShareAWord) {
  WAVEFRONTS(1, 1, 2, t);
  WAVEFRONTS(1, 1, 2, 2 * t);
  WAVEFRONTS(32, 32, 2, 64 * t);
  WAVEFRONTS(1, 1, 1, t);
  WAVEFRONTS(1, 1, 1, 4 * t);
  WAVEFRONTS(2, 2, 1, 8 * t);
}

TEST(SharedWavefronts, EightBytesInTwoPhases) {
  WAVEFRONTS(2, 2, 8, t);
  WAVEFRONTS(4, 4, 8, 2 * t);
  WAVEFRONTS(32, 32, 8, 16 * t);
  WAVEFRONTS(2, 2, 8, 17 * t);
  WAVEFRONTS(1, 2, 8, 3 + 0 * t);
}

TEST(SharedWavefronts, SixteenBytesInFourPhases) {
  WAVEFRONTS(4, 4, 16, t);
  WAVEFRONTS(8, 8, 16, 2 * t);
  WAVEFRONTS(16, 16, 16, 4 * t);
  WAVEFRONTS(32, 32, 16, 8 * t);
  WAVEFRONTS(4, 4, 16, 9 * t);
}

TEST(SharedWavefronts, WideLoadsThatRepeatANeighboursAddressMerge) {
  WAVEFRONTS(2, 4, 16, 7 + 0 * t);
  WAVEFRONTS(2, 4, 16, t / 2);
  WAVEFRONTS(2, 4, 16, t / 4);
  WAVEFRONTS(2, 4, 16, t / 8);
  WAVEFRONTS(2, 4, 16, t % 2);
  WAVEFRONTS(4, 4, 16, t % 8);                       // all quarters alike: lane n xor 8 repeats
  WAVEFRONTS(4, 4, 16, (t % 4 == 1 || t % 4 == 2));  // n xor 3 repeats
  WAVEFRONTS(4, 4, 16, t < 16 ? 0 : t);              // half of the warp merges: nothing does
  WAVEFRONTS(4, 4, 16, t / 2 % 4 + t / 8 * 8);       // each phase alone is free, two are not
}

TEST(SharedWavefronts, WhatMergingDecidedIsMarked) {
  const auto basis = [](int bytes, const Address& number) {
    const Lanes lanes = lanes_of(element(bytes, number));
    return shared_load({lanes.data(), bytes}).basis;
  };
  EXPECT_EQ(basis(16, [](int t) { return t / 2; }), Basis::merging);
  EXPECT_EQ(basis(8, [](int) { return 0; }), Basis::merging);
  EXPECT_EQ(basis(16, [](int t) { return t; }), Basis::rule);
  EXPECT_EQ(basis(4, [](int) { return 0; }), Basis::rule);
  const Lanes one{};
  EXPECT_EQ(shared_load({one.data(), 16, 1}).basis, Basis::rule);
  EXPECT_EQ(shared_store({one.data(), 16}).basis, Basis::rule);
}

TEST(SharedWavefronts, IdealAndWays) {
  const auto cost = [](int bytes, const Address& number, std::uint32_t active = kAllLanes) {
    const Lanes lanes = lanes_of(element(bytes, number));
    return shared_store({lanes.data(), bytes, active});
  };
  EXPECT_EQ(cost(4, [](int t) { return 32 * t; }), (SharedCost{32, 1, 32}));
  EXPECT_EQ(cost(16, [](int t) { return 2 * t; }), (SharedCost{8, 4, 2}));
  EXPECT_EQ(cost(16, [](int t) { return t < 8 ? 8 * t : t; }), (SharedCost{11, 4, 8}));
  EXPECT_EQ(cost(
                16, [](int t) { return t; }, 0xff),
            (SharedCost{1, 1, 1}));
  EXPECT_EQ(cost(
                8, [](int t) { return t; }, 0x00010000),
            (SharedCost{1, 1, 1}));
  EXPECT_EQ(cost(
                4, [](int t) { return t; }, 0),
            (SharedCost{0, 0, 0}));
  EXPECT_EQ(cost(4, [](int t) { return 2 * t; }).conflicts(), 1);
}

TEST(SharedWavefronts, AsynchronousCopiesFollowTheStoresAndAreEstimates) {
  const Lanes lanes{};
  EXPECT_EQ(shared_async_copy({lanes.data(), 16}), (SharedCost{4, 4, 1, Basis::estimate}));
  const Lanes strided = lanes_of([](int t) { return 128 * t; });
  EXPECT_EQ(shared_async_copy({strided.data(), 4}), (SharedCost{32, 1, 32, Basis::estimate}));
}

TEST(SharedWavefronts, MatrixLoadsTakeOnePhaseForEachMatrix) {
  // Rows of 16 bytes: side by side, and one below the other with a pitch of 64 and 72 halves.
  const Lanes dense = lanes_of([](int t) { return 16 * t; });
  const Lanes pitch64 = lanes_of([](int t) { return 128 * (t % 8) + 16 * (t / 8); });
  const Lanes pitch72 = lanes_of([](int t) { return 144 * (t % 8) + 16 * (t / 8); });
  for (const int matrices : {1, 2, 4}) {
    EXPECT_EQ(shared_matrix_load(dense.data(), matrices), (SharedCost{matrices, matrices, 1}));
    EXPECT_EQ(shared_matrix_load(pitch64.data(), matrices),
              (SharedCost{8 * matrices, matrices, 8}));
    EXPECT_EQ(shared_matrix_load(pitch72.data(), matrices), (SharedCost{matrices, matrices, 1}));
  }
  const Lanes one_row{};
  EXPECT_EQ(shared_matrix_load(one_row.data(), 4), (SharedCost{4, 4, 1}));  // never merged
}

// The puzzles' product of 9 x 9 matrices by blocks of 3 x 3 threads, tile 3, counted by hand. The
// rows of a 9 x 9 f32 matrix are 36 bytes; row r begins 4 r bytes after a sector boundary.
TEST(Puzzle, GlobalRequestsOfTheNineByNineProduct) {
  // Tile (1,1): bytes 120-131, 156-167 and 192-203, so sectors 3 and 4, 4 and 5, 6: four.
  const int by_hand[3][3] = {{3, 3, 4}, {3, 4, 3}, {4, 3, 4}};
  int all = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int counted = sectors(
          4, [=](int t) { return 4 * ((3 * i + t / 3) * 9 + 3 * j + t % 3); }, 0x1ff);
      EXPECT_EQ(counted, by_hand[i][j]) << i << "," << j;
      all += counted;
    }
  EXPECT_EQ(all, 31);
}

TEST(Puzzle, SharedAccessesOfTheNineByNineProductAreFreeOfConflicts) {
  for (int k = 0; k < 3; ++k) {
    const Lanes a = lanes_of([=](int t) { return 4 * (t / 3 * 3 + k); });
    const Lanes b = lanes_of([=](int t) { return 4 * (k * 3 + t % 3); });
    EXPECT_EQ(shared_load({a.data(), 4, 0x1ff}), (SharedCost{1, 1, 1}));
    EXPECT_EQ(shared_load({b.data(), 4, 0x1ff}), (SharedCost{1, 1, 1}));
  }
}

// The same rules again, as sets of bytes and words: slow, and short enough to be read.
namespace plainly {

int sectors(const WarpAccess& w) {
  std::set<std::uint64_t> found;
  for (int lane = 0; lane < 32; ++lane)
    for (int byte = 0; (w.active >> lane & 1) != 0 && byte < w.bytes; ++byte)
      found.insert((w.address[lane] + byte) / 32);
  return static_cast<int>(found.size());
}

/// Each phase's passes, without the empty ones.
std::vector<int> phases(const WarpAccess& w, int lanes) {
  std::vector<int> out;
  for (int first = 0; first < 32; first += lanes) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
    for (int lane = first; lane < first + lanes; ++lane)
      for (int byte = 0; (w.active >> lane & 1) != 0 && byte < w.bytes; ++byte) {
        const std::uint64_t word = (w.address[lane] + byte) / 4;
        words_of_bank[word % 32].insert(word);
      }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    if (most > 0) out.push_back(static_cast<int>(most));
  }
  return out;
}

SharedCost sum(const std::vector<int>& phases) {
  SharedCost out{0, static_cast<int>(phases.size()), 0};
  for (const int passes : phases) {
    out.wavefronts += passes;
    out.ways = std::max(out.ways, passes);
  }
  return out;
}

SharedCost store(const WarpAccess& w) {
  return sum(phases(w, w.bytes == 16 ? 8 : w.bytes == 8 ? 16 : 32));
}

SharedCost load(const WarpAccess& w) {
  const SharedCost plain = store(w);
  if (w.bytes < 8) return plain;
  bool merges = false;
  for (const int distance : {1, 2}) {
    bool all = true;
    for (int lane = 0; lane < 32; ++lane) {
      const int other = lane ^ distance;
      const bool both = (w.active >> lane & 1) != 0 && (w.active >> other & 1) != 0;
      if (both && w.address[lane] != w.address[other]) all = false;
    }
    merges = merges || all;
  }
  SharedCost merged = sum(phases(w, w.bytes == 16 ? 16 : 32));
  merged.basis = Basis::merging;
  const bool free = plain.wavefronts == plain.ideal && merged.wavefronts == merged.ideal;
  return merges && free && merged.wavefronts < plain.wavefronts ? merged : plain;
}

}  // namespace plainly

/// A warp of one of several families, most of them regular: pure noise hardly ever repeats an
/// address.
Lanes random_lanes(std::uint64_t seed, int bytes) {
  std::uint64_t n = 0;
  const auto draw = [&](std::uint64_t below) { return random_bits(seed, n++) % below; };
  const std::uint64_t base = draw(64) * 4, family = draw(6);
  const std::uint64_t stride = draw(40), width = 1 + draw(32), pitch = draw(70);
  const std::uint64_t range = 1 + draw(draw(2) == 0 ? 16 : 400);
  Lanes out;
  for (std::uint64_t t = 0; t < kWarpLanes; ++t) {
    const std::uint64_t number = family == 0   ? t * stride
                                 : family == 1 ? t % width + t / width * pitch
                                 : family == 2 ? t / width + t % width * pitch
                                 : family == 3 ? t / (1u << width % 5) * stride
                                 : family == 4 ? (t ^ width % 32) * (1 + stride % 3)
                                               : draw(range);
    out[t] = base / bytes * bytes + number * bytes;
  }
  if (draw(4) == 0) out[draw(32)] = draw(range) * bytes;  // one lane out of line
  return out;
}

TEST(MemoryRules, AreThoseOfASecondCounterOnTenThousandRandomWarps) {
  constexpr std::uint32_t kMasks[] = {kAllLanes, 0xffff, 0x55555555, 0x1ff, 0x80000001};
  int conflicts = 0, merged = 0, scattered = 0;
  for (std::uint64_t seed = 0; seed < 10000; ++seed) {
    const int bytes = 1 << random_bits(seed, 1000) % 5;
    const std::uint64_t kind = random_bits(seed, 1001) % 12;
    const std::uint32_t active = kind < 5   ? kMasks[kind]
                                 : kind < 8 ? static_cast<std::uint32_t>(random_bits(seed, 1002))
                                            : kAllLanes;
    Lanes lanes = random_lanes(seed, bytes);
    if (random_bits(seed, 1003) % 16 == 0)
      for (auto& address : lanes) address += 1 + seed % 3;  // misaligned: a finding, not a crash
    const WarpAccess warp{lanes.data(), bytes, active};
    const std::string what = cat("seed ", seed, ", ", bytes, " bytes");
    EXPECT_EQ(global_access(warp).sectors, plainly::sectors(warp)) << what;
    EXPECT_EQ(shared_store(warp), plainly::store(warp)) << what;
    EXPECT_EQ(shared_load(warp), plainly::load(warp)) << what;
    if (HasFailure()) return;
    conflicts += shared_store(warp).ways > 1;
    merged += shared_load(warp).basis == Basis::merging;
    scattered += global_access(warp).sectors > global_access(warp).ideal;
  }
  EXPECT_GT(conflicts, 1000);
  EXPECT_GT(merged, 100);
  EXPECT_GT(scattered, 1000);
}

}  // namespace
