// Accesses to elements that do not exist, with contracts always on: reported with
// element, shape, line, and in a kernel with block and thread. Nothing crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "simt/engine_support.hpp"
#include "tessera/kernels/tiled.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

static_assert(TESSERA_CONTRACTS, "this program is compiled with -DTESSERA_CONTRACTS=1");

/// The message of an access that is refused.
template <class Access>
std::string refused(Access access) {
  return error_of([&] { static_cast<void>(access()); }, Category::shape);
}
std::string line_of(int line) {
  return std::string(", at ") + __FILE__ + ":" + std::to_string(line);
}

TEST(Contracts, ARowOrColumnThatDoesNotExistIsNamedWithItsLine) {
  std::vector<float> memory(81);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 9, 9, 9);  // (9,9)
  const auto row_nine = [&] { return t(9, 2); };
  const int line = __LINE__ - 1;
  EXPECT_THAT(refused(row_nine),
              AllOf(StartsWith("element (9,2) of a (9,9) tensor does not exist" + line_of(line)),
                    HasSubstr(": expected a row of 0 to 8, got 9; "), HasSubstr("contains()")));
  EXPECT_THAT(refused([&] { return t(0, 9); }), HasSubstr("expected a column of 0 to 8, got 9"));
  EXPECT_THAT(refused([&] { return t(-1, 3); }), HasSubstr("expected a row of 0 to 8, got -1"));
  EXPECT_THAT(refused([&] { return t(81); }), AllOf(StartsWith("element (81) of a (9,9) tensor"),
                                                    HasSubstr("a position of 0 to 80")));
  EXPECT_EQ(&t(8, 8), &memory[80]);
  EXPECT_EQ(&t(80), &memory[80]);
}

TEST(Contracts, WhatAClippedTileLacksDoesNotExist) {
  std::vector<float> memory(81);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 9, 9, 9);  // (9,9)
  const auto corner = tile<4, 4>(t, 2, 1);                         // (4,4), of which (1,4) exists
  EXPECT_EQ(&corner(0, 3), &memory[8 * 9 + 7]);
  EXPECT_THAT(
      refused([&] { return corner(1, 0); }),
      AllOf(StartsWith("element (1,0) of a (4,4) tensor, of which (1,4) exists, does not exist"),
            HasSubstr("expected a row of 0 to 0, got 1")));
  EXPECT_EQ(&corner(4), &corner(0, 1));  // first mode fastest
  EXPECT_THAT(refused([&] { return corner(5); }), HasSubstr("element (5)"));
  EXPECT_THAT(refused([&] { return tile<4, 4>(t, 3, 0)(0, 0); }),
              HasSubstr("expected none, as there is not a row, got 0"));
}

TEST(Contracts, EveryRankEngineAndOwnerIsChecked) {
  HostTensor<float, 3> cube(2, 3, 4);
  EXPECT_THAT(
      refused([&] { return cube.view()(1, 3, 0); }),
      AllOf(StartsWith("element (1,3,0) of a (2,3,4) tensor"), HasSubstr("in mode 1 of 0 to 2")));
  const auto third_slice = [&] { return cube(2, 0, 0); };
  EXPECT_THAT(refused(third_slice), HasSubstr(line_of(__LINE__ - 1)));
  EXPECT_THAT(refused([&] { return slice(cube.view(), 1, 1, every)(4); }),
              HasSubstr("a position of 0 to 3, got 4"));
  Tile<float, 4, 8> shared_tile{};
  const auto ninth_column = [&] { return shared_tile(3, 8); };
  const int line = __LINE__ - 1;
  EXPECT_THAT(refused(ninth_column),
              AllOf(HasSubstr("element (3,8) of a (4,8) tensor"), HasSubstr(line_of(line))));
  EXPECT_THAT(refused([&] { return vectorize<1, 4>(shared_tile.view())(0, 2); }),
              HasSubstr("element (0,2) of a (4,2) tensor"));
  EXPECT_THAT(refused([&] {
                return swizzled<Swizzle{1, 0, 2}>(shared_tile.view())(4, 0);
              }),
              HasSubstr("element (4,0) of a (4,8) tensor"));
  constexpr auto third = [] {
    std::array<int, 6> data{1, 2, 3, 4, 5, 6};
    return tensor<row_major(2, 3)>(data.data())(0, 2);
  }();
  static_assert(third == 3);
}

/// The first kernel without its guard.
struct Unguarded {
  static constexpr const char* name = "unguarded";
  static constexpr Dim3 block{4, 4};
  static constexpr int line = __LINE__ + 2;
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    tile<4, 4>(C, t.block.y, t.block.x)(t.thread.y, t.thread.x) = 1;
    t.barrier();
  }
};

TEST(Contracts, AKernelWithoutItsGuardIsReportedWithLineThreadAndBlock) {
  std::vector<float> memory(90, 0.0f);
  const auto C = tensor<kRowMajorMatrix>(memory.data(), 9, 9, 9);  // (9,9)
  const std::string text = error_of(
      [&] {
        launch(LaunchConfig{.grid = {3, 3}, .block = {4, 4}, .threads = 1}, Unguarded{}, C);
      },
      Category::shape);
  EXPECT_THAT(
      text, StartsWith("kernel unguarded, block (2,0,0), thread (1,0,0): element (0,1) of a (4,4) "
                       "tensor, of which (4,1) exists, does not exist" +
                       line_of(Unguarded::line)));
  EXPECT_THAT(text, HasSubstr("expected a column of 0 to 0, got 1; let contains() decide"));
  for (std::size_t i = 81; i < memory.size(); ++i) EXPECT_EQ(memory[i], 0.0f);
}

TEST(Contracts, ACorrectKernelRunsAsWithoutThem) {
  const int M = 37, N = 21, K = 30;
  std::vector<float> a(M * K, 0.1f), b(K * N, 0.3f), c(M * N), expected(M * N);
  using Kernel = Tiled<TileShape{.bm = 16, .bn = 16, .bk = 16}>;
  launch(Kernel::grid(M, N), Kernel{}, tensor<kRowMajorMatrix>(a.data(), M, K, K),
         tensor<kRowMajorMatrix>(b.data(), K, N, N), tensor<kRowMajorMatrix>(c.data(), M, N, N));
  matmul(matrix(a.data(), M, K), matrix(b.data(), K, N), matrix(expected.data(), M, N));
  EXPECT_EQ(c, expected);
}

}  // namespace
}  // namespace tessera
