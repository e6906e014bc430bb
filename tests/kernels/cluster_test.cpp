// The kernel of warpgroup units in clusters: blocks that share tiles of A or B by copies into all
// of them give the bits of blocks that load everything, for any extents and order.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "matmul/warpgroup_operands.hpp"
#include "support/products.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

/// Extents, which operands are stored by columns, and what the epilogue does.
struct ClusterProduct {
  index_t M, N, K;
  bool a = false, b = false, c = false;
  double alpha = 1, beta = 0;
  Activation activation = Activation::none;
};

template <class T>
Guarded<T> aligned_matrix(index_t rows, index_t cols, bool by_columns) {
  using Order = typename Guarded<T>::Order;
  const index_t extent = by_columns ? rows : cols;
  return {rows, cols, by_columns ? Order::col_major : Order::row_major, (8 - extent % 8) % 8 + 8};
}

/// The elements of C by this kernel, row by row.
template <class Kernel, class In, class Out>
std::vector<Out> product_by(const ClusterProduct& x, ThreadOrder order, std::uint64_t seed,
                            int multiprocessors) {
  auto A = aligned_matrix<In>(x.M, x.K, x.a), B = aligned_matrix<In>(x.K, x.N, x.b);
  auto C = aligned_matrix<Out>(x.M, x.N, x.c);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  if (x.beta != 0) C.fill(RandomData(3));
  const Matrix a = A.view(), b = B.view(), c = C.view();
  const Problem problem{.M = x.M,
                        .N = x.N,
                        .K = x.K,
                        .in = a.dtype,
                        .out = c.dtype,
                        .a = {a.row_stride, a.col_stride},
                        .b = {b.row_stride, b.col_stride},
                        .c = {c.row_stride, c.col_stride},
                        .alpha = x.alpha,
                        .beta = x.beta,
                        .epilogue = {x.activation}};
  detail::with_bulk_operands<Kernel, In, Out>(
      problem, a.data, b.data, c.data, nullptr, software_map,
      [&](const auto& gA, const auto& gB, const auto& slices, const auto& out) {
        launch({.grid = Kernel::grid(x.M, x.N, multiprocessors),
                .block = Kernel::block,
                .order = order,
                .seed = seed},
               Kernel{}, gA, gB, slices, out);
      });
  EXPECT_TRUE(C.guards_intact());
  std::vector<Out> elements;
  for (index_t i = 0; i < x.M; ++i)
    for (index_t j = 0; j < x.N; ++j) elements.push_back(C(i, j));
  return elements;
}

/// In a cluster of this shape as without one, in every order.
template <TileShape S, ClusterShape Together, class In = bf16, class Out = bf16>
void expect_same_bits(const ClusterProduct& x, int multiprocessors = 8) {
  const auto alone =
      product_by<WarpgroupTiled<S>, In, Out>(x, ThreadOrder::forward, 0, multiprocessors);
  for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    const auto together =
        product_by<WarpgroupTiled<S, Together>, In, Out>(x, order, 5, multiprocessors);
    ASSERT_EQ(alone.size(), together.size());
    EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(Out)), 0)
        << x.M << " x " << x.N << " x " << x.K << ", " << name(order);
  }
}

constexpr TileShape kShared{.bm = 128, .bn = 128, .wm = 64, .wn = 128};
constexpr TileShape kByTurns{.bm = 128, .bn = 128, .wm = 128, .wn = 128};
constexpr ClusterShape kSharesA{.down = 1, .across = 2}, kSharesB{.down = 2, .across = 1},
    kSharesBoth{.down = 2, .across = 2};

TEST(WarpgroupCluster, SharesAOrBOrBoth) {
  const ClusterProduct x{200, 140, 72};
  expect_same_bits<kShared, kSharesA>(x);
  expect_same_bits<kShared, kSharesB>(x);
  expect_same_bits<kShared, kSharesBoth>(x);
  expect_same_bits<kByTurns, kSharesA>(x);
  expect_same_bits<kByTurns, kSharesB>(x);
  expect_same_bits<kByTurns, kSharesBoth>(x);
}

TEST(WarpgroupCluster, TakesAnyExtentsAndOrders) {
  std::mt19937 random(7);
  for (int i = 0; i < 4; ++i) {
    const auto extent = [&] { return static_cast<index_t>(1 + random() % 200); };
    ClusterProduct x{extent(), extent(), extent(), random() % 2 == 0, random() % 2 == 0};
    x.c = random() % 2 == 0;
    if (i % 3 == 0) x.alpha = 0.7, x.beta = -0.3, x.activation = Activation::relu;
    expect_same_bits<kShared, kSharesB>(x);
    expect_same_bits<kByTurns, kSharesA, f16, float>(x);
  }
  expect_same_bits<kShared, kSharesB, float, float>({70, 200, 100, false, true});
}

/// A cluster goes from tile to tile, its last rows of tiles are beyond C, and K may be nothing.
TEST(WarpgroupCluster, GoesFromTileToTile) {
  expect_same_bits<kShared, kSharesB>({128 * 3, 128 * 3, 136}, 4);
  expect_same_bits<kByTurns, kSharesBoth>({128 * 3, 128 * 2, 136}, 4);
  expect_same_bits<kShared, kSharesA>({1, 1, 1}, 1);
  expect_same_bits<kShared, kSharesB>({130, 70, 0, false, false, false, 1, 0.5});
}

}  // namespace
}  // namespace tessera
