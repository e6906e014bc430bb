// Tiles and what is built on them: every element of every tile is the one that index arithmetic
// names, and the tiles of a matrix cover it exactly once.
#include "tessera/tensor/tile.hpp"

#include <gtest/gtest.h>

#include <map>

#include "guarded.hpp"
#include "tessera/tensor/for_each.hpp"
#include "tessera/tensor/print.hpp"
#include "tessera/tensor/split.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile_range.hpp"

namespace tessera {
namespace {

using test::Guarded;

TEST(Tile, ConformsTo11By7) {
  // 11x7, tile 4x4 at (0,1) and (2,1).
  Guarded<> memory(77);
  const auto t = tensor<row_major(11, 7)>(memory.data());
  const auto right = tile<4, 4>(t, 0, 1);
  static_assert(decltype(right)::pattern == Layout(tuple(4, 4), tuple(7, 1)));
  static_assert(decltype(right)::is_clipped);
  EXPECT_EQ(right.valid<0>(), 4);
  EXPECT_EQ(right.valid<1>(), 3);
  EXPECT_EQ(to_string(tile<4, 4>(t, 2, 1)), "60 61 62\n67 68 69\n74 75 76\n");
}

TEST(Tile, OfATileMayBeEmpty) {
  // 15x9 in nested tiles.
  Guarded<> memory(15 * 9);
  const auto t = tensor<row_major(15, 9)>(memory.data());
  const auto outer = tile<8, 4>(t, 1, 2);  // 7 x 1 exist
  EXPECT_EQ(outer.valid<0>(), 7);
  EXPECT_EQ(outer.valid<1>(), 1);
  const auto inner = tile<4, 2>(outer, 1, 1);
  EXPECT_EQ(inner.valid<0>(), 3);
  EXPECT_EQ(inner.valid<1>(), 0);
  EXPECT_FALSE(inner.contains(0, 0));
  EXPECT_EQ(to_string(inner), "empty (3,0)\n");
  EXPECT_EQ(to_string(tile<4, 2>(outer, 1, 0)), "116\n125\n134\n");
}

TEST(Tile, BeforeTheFirstIsEmptyOrRefused) {
  Guarded<> memory(64);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 8, 8, 8);
  EXPECT_EQ((tile<4, 4>(t, -1, 0).valid<0>()), 0);
  EXPECT_EQ((tile<4, 4>(t, -1, 0).valid<1>()), 4);
  EXPECT_FALSE((tile<4, 4>(t, -1, 0).contains(0, 0)));
  EXPECT_EQ((tile<4, 4>(t, 0, -2).valid<1>()), 0);
  const auto whole = tensor<row_major(8, 8)>(memory.data());
  EXPECT_NO_THROW((tile<4, 4>(whole, 1, 1)));
  for (const auto& [i, j] : {std::pair{-1, 0}, {0, -1}, {2, 0}, {0, 2}})
    EXPECT_THROW((tile<4, 4>(whole, i, j)), Error) << i << "," << j;
}

TEST(Tile, WholeWhereTheTypesKnowThatItFits) {
  Guarded<> memory(64);
  static_assert(!decltype(tile<4, 2>(tensor<row_major(8, 8)>(memory.data()), 0, 0))::is_clipped);
  static_assert(decltype(tile<4, 3>(tensor<row_major(8, 8)>(memory.data()), 0, 0))::is_clipped);
}

/// How often a view shows each element of the memory.
template <class T>
void count_elements(const T& t, const float* base, std::map<index_t, int>& seen) {
  for_each_position(t, [&](auto... at) { ++seen[&t(at...) - base]; });
}

TEST(Tile, TilesCoverTheMatrixOnce) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> memory(size);
    const auto t = tensor<kAnyMatrix>(memory.data(), m, n, rs, cs);
    std::map<index_t, int> seen;
    for (index_t i = 0; i < tiles<0>(t, 4); ++i) {
      for (index_t j = 0; j < tiles<1>(t, 3); ++j) {
        const auto part = tile<4, 3>(t, i, j);
        ASSERT_EQ(part.valid<0>(), std::min<index_t>(4, m - 4 * i));
        ASSERT_EQ(part.valid<1>(), std::min<index_t>(3, n - 3 * j));
        ASSERT_EQ(part.is_full(), 4 * i + 4 <= m && 3 * j + 3 <= n);
        for_each_position(part, [&](auto r, auto c) {
          ASSERT_EQ(part(r, c), memory[(4 * i + r) * rs + (3 * j + c) * cs]);
        });
        count_elements(part, memory.data(), seen);
      }
    }
    ASSERT_EQ(static_cast<index_t>(seen.size()), m * n);
    for (const auto& [offset, times] : seen) ASSERT_EQ(times, 1) << offset;
  });
}

TEST(Tile, BeyondTheBorderNothingExists) {
  Guarded<> memory(77);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 11, 7, 7);
  EXPECT_EQ((tile<4, 4>(t, 3, 0).valid<0>()), 0);
  EXPECT_EQ((tile<4, 4>(t, 100, 100).valid<1>()), 0);
}

TEST(TileRange, WalksTheTilesOfOneMode) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> memory(size);
    const auto t = tensor<kAnyMatrix>(memory.data(), m, n, rs, cs);
    index_t k = 0;
    for (const auto part : tile_range<4, 3>(t, 1, along)) {
      const auto want = tile<4, 3>(t, 1, k++);
      ASSERT_EQ(part.data(), want.data());
      ASSERT_EQ(part.valid<0>(), want.valid<0>());
      ASSERT_EQ(part.valid<1>(), want.valid<1>());
    }
    ASSERT_EQ(k, (n + 2) / 3);
    const auto rows = tile_range<4, 3>(t, along, 0);
    ASSERT_EQ(rows.size(), (m + 3) / 4);
  });
}

TEST(TileRange, CircularStartsAgain) {
  Guarded<> memory(24);
  const auto t = tensor<row_major(2, 12)>(memory.data());
  std::vector<float> firsts;
  for (const auto part : circular_tiles<2, 4>(t, 7, 0, along)) firsts.push_back(part(0, 0));
  EXPECT_EQ(firsts, (std::vector<float>{0, 4, 8, 0, 4, 8, 0}));
}

TEST(TileRange, CircularOverAnEmptyModeShowsEmptyTiles) {
  Guarded<> memory(1);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 2, 0, 4);
  for (const auto part : circular_tiles<2, 4>(t, 3, 0, along)) EXPECT_EQ(part.valid<1>(), 0);
}

TEST(Split, PartsCoverTheModeInOrder) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> memory(size);
    const auto t = tensor<kAnyMatrix>(memory.data(), m, n, rs, cs);
    index_t begin = 0;
    for (const auto& part : split<3, 0>(t)) {
      for_each_position(
          part, [&](auto i, auto j) { ASSERT_EQ(part(i, j), memory[(begin + i) * rs + j * cs]); });
      begin += part.template valid<0>();
      ASSERT_EQ(part.template valid<1>(), n);
    }
    ASSERT_EQ(begin, m);
    begin = 0;
    for (index_t k = 0; k < 5; ++k) {
      const auto part = split<1>(t, 5, k);
      static_assert(!decltype(part)::is_clipped);
      for_each_position(
          part, [&](auto i, auto j) { ASSERT_EQ(part(i, j), memory[i * rs + (begin + j) * cs]); });
      begin += part.extent<1>();
    }
    ASSERT_EQ(begin, n);
  });
}

TEST(Split, EvenStaticPartsAreWholeAndStatic) {
  Tile<float, 8, 6> storage{};
  auto [upper, lower] = split<2, 0>(storage.view());
  static_assert(decltype(upper)::pattern == Layout(tuple(4, 6), tuple(6, 1)));
  static_assert(!decltype(upper)::is_clipped);
  lower(0, 0) = 5;
  EXPECT_EQ(storage(4, 0), 5);
}

TEST(Split, OfAClippedTileIsClipped) {
  Guarded<> memory(77);
  const auto t = tile<4, 4>(tensor<row_major(11, 7)>(memory.data()), 2, 1);  // 3 x 3 exist
  auto [upper, lower] = split<2, 0>(t);
  EXPECT_EQ(upper.valid<0>(), 2);
  EXPECT_EQ(lower.valid<0>(), 1);
  EXPECT_EQ(lower.valid<1>(), 3);
  EXPECT_EQ((split<1>(t, 4, 3).valid<1>()), 0);
}

TEST(Split, AMissingPartIsAnError) {
  Guarded<> memory(6);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 2, 3, 3);
  EXPECT_THROW(split<1>(t, 3, 3), Error);
  EXPECT_THROW(split<1>(t, 3, -1), Error);
  try {
    split<1>(t, 0, 0);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.expected(), "a count of 1 or more, not 0");
  }
}

}  // namespace
}  // namespace tessera
