// The kernel of warpgroup units for elements of one byte: whole numbers of 8 bits, whose sums are
// exact in i32, and f8, of which small whole numbers have exact sums in f32. Alone and in clusters.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "matmul/warpgroup_operands.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

/// Whole numbers that f8 and bytes hold exactly, in rows of whole pieces of 16 bytes.
template <class T>
struct ByteRows {
  index_t stride;
  std::vector<T> elements;
  ByteRows(index_t rows, index_t cols, unsigned seed)
      : stride((cols + 15) / 16 * 16), elements(static_cast<std::size_t>(rows * stride)) {
    std::mt19937 random(seed);
    const int least = std::is_same_v<T, std::uint8_t> ? 0 : -4;
    for (auto& each : elements)
      each = convert<T>(static_cast<float>(least + static_cast<int>(random() % 9)));
  }
  float at(index_t row, index_t col) const {
    return static_cast<float>(elements[static_cast<std::size_t>(row * stride + col)]);
  }
};

/// Elements of C = A (M,K) * B^T (N,K) that are wrong.
template <class Kernel, class T>
int wrong_of_bytes(index_t M, index_t N, index_t K, ThreadOrder order) {
  using Out = Accumulator<T>;
  const ByteRows<T> A(M, K, 1), B(N, K, 2);
  std::vector<Out> C(static_cast<std::size_t>(M * N), Out{-1});
  const Problem problem{
      .M = M, .N = N, .K = K, .a = {A.stride, 1}, .b = {1, B.stride}, .c = {N, 1}};
  detail::with_bulk_operands<Kernel, T, Out>(
      problem, A.elements.data(), B.elements.data(), C.data(), nullptr, software_map,
      [&](const auto& gA, const auto& gB, const auto& slices, const auto& out) {
        launch({.grid = Kernel::grid(M, N, 4), .block = Kernel::block, .order = order, .seed = 3},
               Kernel{}, gA, gB, slices, out);
      });
  int wrong = 0;
  for (index_t i = 0; i < M; ++i) {
    for (index_t j = 0; j < N; ++j) {
      float sum = 0;
      for (index_t k = 0; k < K; ++k) sum += A.at(i, k) * B.at(j, k);
      wrong += C[static_cast<std::size_t>(i * N + j)] != static_cast<Out>(sum);
    }
  }
  return wrong;
}

template <TileShape Tile, ClusterShape Together = ClusterShape{}>
struct Shape {};

template <class T>
void expect_bytes_right(ThreadOrder order) {
  constexpr TileShape shared{.bm = 128, .bn = 128, .wm = 64, .wn = 128},
      by_turns{.bm = 128, .bn = 64, .wm = 128, .wn = 64},
      small{.bm = 64, .bn = 64, .wm = 64, .wn = 64},
      wide{.bm = 128, .bn = 256, .wm = 64, .wn = 256},
      whole{.bm = 128, .bn = 128, .wm = 128, .wn = 128};
  const auto wrong = [&]<TileShape Tile, ClusterShape Together>(Shape<Tile, Together>, index_t M,
                                                                index_t N, index_t K) {
    using Kernel = WarpgroupTiled<Tile, Together, 0, Products::one, kAddsOf<T>>;
    return wrong_of_bytes<Kernel, T>(M, N, K, order);
  };
  EXPECT_EQ(wrong(Shape<small>{}, 130, 70, 300), 0);
  EXPECT_EQ(wrong(Shape<shared>{}, 70, 133, 129), 0);
  EXPECT_EQ(wrong(Shape<shared, ClusterShape{2, 1}>{}, 129, 70, 300), 0);
  EXPECT_EQ(wrong(Shape<by_turns, ClusterShape{1, 2}>{}, 64, 144, 260), 0);
  EXPECT_EQ(wrong(Shape<wide>{}, 150, 300, 257), 0);
  EXPECT_EQ(wrong(Shape<wide, ClusterShape{2, 1}>{}, 130, 80, 300), 0);
  EXPECT_EQ(wrong(Shape<whole>{}, 260, 130, 300), 0);
}

TEST(WarpgroupBytes, WholeNumbersAreExact) {
  expect_bytes_right<std::int8_t>(ThreadOrder::forward);
  expect_bytes_right<std::uint8_t>(ThreadOrder::shuffled);
}

TEST(WarpgroupBytes, SmallSumsOfF8AreExact) {
  expect_bytes_right<f8e4m3>(ThreadOrder::shuffled);
  expect_bytes_right<f8e5m2>(ThreadOrder::forward);
}

}  // namespace
}  // namespace tessera
