#include "tessera/ops/whole_tile.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace tessera {
namespace {

constexpr index_t kRows = 20, kCols = 24;

TEST(WholeTile, IsOneThatExistsAndLiesInVectors) {
  alignas(16) float memory[kRows * (kCols + 1)] = {};
  const auto A = tensor<kAnyMatrix>(memory, kRows, kCols, kCols, 1);
  EXPECT_TRUE(is_whole<4>(tile<8, 16>(A, 1, 0)));
  EXPECT_FALSE(is_whole<4>(tile<8, 16>(A, 2, 0)));  // 4 of 8 rows
  EXPECT_FALSE(is_whole<4>(tile<8, 16>(A, 0, 1)));  // 8 of 16 columns
  EXPECT_FALSE(is_whole<4>(tile<8, 16>(A, 9, 0)));
  const auto odd_rows = tensor<kAnyMatrix>(memory, kRows, kCols, kCols + 1, 1);
  EXPECT_FALSE(is_whole<4>(tile<8, 16>(odd_rows, 0, 0)));
  const auto unaligned = tensor<kAnyMatrix>(memory + 1, kRows, kCols, kCols, 1);
  EXPECT_FALSE(is_whole<4>(tile<8, 16>(unaligned, 0, 0)));
  const auto transposed = tensor<kAnyMatrix>(memory, kRows, kCols, 1, kRows);
  EXPECT_FALSE(is_whole<4>(tile<8, 16>(transposed, 0, 0)));
}

TEST(WholeTile, InVectorsHasTheSameElementsAndNoEdge) {
  alignas(16) float memory[kRows * kCols];
  for (int i = 0; i < kRows * kCols; ++i) memory[i] = static_cast<float>(i);
  const auto A = tensor<kAnyMatrix>(memory, kRows, kCols, kCols, 1);
  const auto part = tile<4, 8>(A, 3, 1);
  const auto vectors = whole_vectors<4>(part);
  using Vectors = std::remove_const_t<decltype(vectors)>;
  static_assert(!Vectors::is_clipped);
  EXPECT_EQ(vectors.extent<0>(), 4);
  EXPECT_EQ(vectors.extent<1>(), 2);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      const Vec<float, 4> four = vectors(i, j / 4);
      EXPECT_EQ(four[j % 4], part(i, j)) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace tessera
