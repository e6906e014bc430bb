// Blocks far out in a large grid, without the memory of such a matrix: all its strides are zero,
// and one thread computes one element. And grids that no launch can have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tessera/core/error.hpp"
#include "tessera/kernels/coalescing.hpp"
#include "tessera/kernels/naive.hpp"
#include "tessera/kernels/sarek_naive.hpp"
#include "tessera/kernels/tiled.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr index_t kExtent = (index_t{1} << 31) + 4096;
constexpr int kFar = 67108864;  // this block begins at 2^31 where tiles have 32 rows or columns

/// Thread (0,0) of one block, alone.
struct Lone {
  Position thread, block;
  Dim3 block_dim{32, 32};
  alignas(16) char memory[8192] = {};
  void* shared_memory(std::size_t) { return memory; }
  void barrier() {}
  void superstep(const char*, auto body) { body(); }
};

/// What the single thread of `block` writes where C is (M,N) and every element of A is 2, of B 3.
template <class Kernel>
float written(Position block, index_t M, index_t N) {
  const float a = 2, b = 3;
  float c = -1;
  const index_t none = 0;
  Lone t;
  t.block = block;
  Kernel{}(t, tensor<kAnyMatrix>(&a, M, index_t{1}, none, none),  // (M,1):(0,0)
           tensor<kAnyMatrix>(&b, index_t{1}, N, none, none),     // (1,N):(0,0)
           tensor<kAnyMatrix>(&c, M, N, none, none));             // (M,N):(0,0)
  return c;
}

constexpr TileShape kSquare{.bm = 32, .bn = 32, .bk = 32};

TEST(FarBlocks, AreComputedWhereRowsAndColumnsGoBeyondAnInt) {
  EXPECT_EQ(written<Naive<kSquare>>({kFar, 0, 0, kFar}, kExtent, 1), 6);
  EXPECT_EQ(written<Naive<kSquare>>({0, kFar, 0, kFar}, 1, kExtent), 6);
  EXPECT_EQ(written<Coalescing<kSquare>>({kFar, 0, 0, kFar}, 1, kExtent), 6);
  EXPECT_EQ(written<Coalescing<kSquare>>({0, kFar, 0, kFar}, kExtent, 1), 6);
  EXPECT_EQ(written<TiledByHand<kSquare>>({kFar, 0, 0, kFar}, 1, kExtent), 6);
  EXPECT_EQ(written<TiledByHand<kSquare>>({0, kFar, 0, kFar}, kExtent, 1), 6);
  EXPECT_EQ(written<Tiled<kSquare>>({kFar, 0, 0, kFar}, 1, kExtent), 6);
  EXPECT_EQ(written<Tiled<kSquare>>({0, kFar, 0, kFar}, kExtent, 1), 6);
}

template <class Grid>
std::string refusal(Grid grid) {
  try {
    grid();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::argument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Grids, BeyondAnIntAreRefused) {
  constexpr index_t kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(Naive<kSquare>::grid(kMost * 32, 1), (Dim3{static_cast<int>(kMost), 1}));
  EXPECT_THAT(refusal([] { Naive<kSquare>::grid(index_t{1} << 37, 1); }),
              AllOf(HasSubstr("kernel naive has too many blocks"),
                    HasSubstr("expected at most 2147483647, got (4294967296,1,1)")));
  EXPECT_THAT(refusal([] { Tiled<kSquare>::grid(kMost * 32 + 1, 1); }),
              HasSubstr("got (1,2147483648,1)"));
  EXPECT_THAT(refusal([] { SarekNaive<TileShape{.bm = 1, .bn = 32}>::grid(1 << 20, 1 << 20); }),
              HasSubstr("got (34359738368,1,1)"));
}

}  // namespace
}  // namespace tessera
