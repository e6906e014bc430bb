// Variants of the kernel of warpgroup units that the ladder does not have: batches of matrices in
// one launch, K split into parts, and other numbers of stages. In every order of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tessera/kernels/warpgroup_tiled.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera {
namespace {

constexpr TileShape kTileOfTwo{.bm = 128, .bn = 64, .wm = 64, .wn = 64},
    kTileByTurns{.bm = 64, .bn = 64, .wm = 64, .wn = 64};

template <TileShape S, ClusterShape Together = ClusterShape{}, int Stages = 0>
using Series = WarpgroupTiled<S, Together, Stages, Products::series>;

/// `count` matrices (rows,cols) of small whole numbers below one another, `apart` rows of one to
/// the next; NaN in between.
struct Stack {
  index_t rows, cols, apart, stride;
  std::vector<bf16> elements;
  Stack(int count, index_t rows_, index_t cols_, index_t apart_, unsigned seed)
      : rows(rows_),
        cols(cols_),
        apart(apart_),
        stride((cols + 7) / 8 * 8),
        elements(static_cast<std::size_t>(count * apart * stride), bf16(NAN)) {
    std::mt19937 random(seed);
    for (int which = 0; which < count; ++which)
      for (index_t i = 0; i < rows; ++i)
        for (index_t k = 0; k < cols; ++k)
          elements[static_cast<std::size_t>((which * apart + i) * stride + k)] =
              bf16(static_cast<float>(random() % 9) - 4);
  }
  float at(int which, index_t i, index_t k) const {
    return elements[static_cast<std::size_t>((which * apart + i) * stride + k)];
  }
  template <class Tile>
  BulkMatrix<Tile> all() const {
    return bulk_operand<Tile>(software_map, elements.data(),
                              static_cast<index_t>(elements.size()) / stride, cols, stride, 1);
  }
};

struct Shape {
  index_t M, N, K;
};

/// Launches the series; C of one product after another.
template <class Kernel>
std::vector<float> products(const Kernel& kernel, const Shape& x, const Stack& A, const Stack& B,
                            ThreadOrder order) {
  std::vector<float> C(static_cast<std::size_t>(kernel.series.count * x.M * x.N), NAN);
  const auto first = tensor<kRowMajorMatrix>(C.data(), x.M, x.N, x.N);
  launch({.grid = Kernel::grid(x.M * kernel.series.count, x.N, 3 * Kernel::blocks),
          .block = Kernel::block,
          .order = order,
          .seed = 4},
         kernel, A.template all<typename Kernel::template LoadA<bf16>>(),
         B.template all<typename Kernel::template LoadB<bf16>>(), BulkMatrix<SliceTile<float>>{},
         first);
  return C;
}

template <class Kernel>
void expect_batches_right(const Shape& x, ThreadOrder order) {
  constexpr int count = 5;
  const Stack A(count, x.M, x.K, x.M + 3, 1), B(count, x.N, x.K, x.N, 2);
  Kernel kernel;
  kernel.series = {.count = count,
                   .a_rows = static_cast<int>(A.apart),
                   .b_rows = static_cast<int>(B.apart),
                   .c = x.M * x.N};
  const auto C = products(kernel, x, A, B, order);
  int wrong = 0;
  for (int which = 0; which < count; ++which) {
    for (index_t i = 0; i < x.M; ++i) {
      for (index_t j = 0; j < x.N; ++j) {
        float sum = 0;
        for (index_t k = 0; k < x.K; ++k) sum += A.at(which, i, k) * B.at(which, j, k);
        wrong += C[static_cast<std::size_t>((which * x.M + i) * x.N + j)] != sum;
      }
    }
  }
  EXPECT_EQ(wrong, 0) << x.M << " x " << x.N << " x " << x.K << ", " << name(order);
}

constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::shuffled, ThreadOrder::late};

TEST(WarpgroupSeries, BatchesOfAnyExtents) {
  for (const auto order : kOrders) {
    for (const Shape& x : {Shape{70, 45, 130}, {128, 64, 64}, {1, 3, 7}, {130, 130, 200}}) {
      expect_batches_right<Series<kTileOfTwo>>(x, order);
      expect_batches_right<Series<kTileByTurns>>(x, order);
    }
    expect_batches_right<Series<kTileByTurns, ClusterShape{}, 2>>({70, 45, 330}, order);
  }
}

template <class Kernel>
void expect_split_right(const Shape& x, int tiles_of_part, ThreadOrder order) {
  const int depth = Kernel::template depth<bf16>, along_k = tiles_of_part * depth;
  const Stack A(1, x.M, x.K, x.M, 3), B(1, x.N, x.K, x.N, 4);
  Kernel kernel;
  kernel.series = {
      .count = static_cast<int>(ceil_div(x.K, along_k)), .along_k = along_k, .c = x.M * x.N};
  const auto parts = products(kernel, x, A, B, order);
  std::vector<float> C(static_cast<std::size_t>(x.M * x.N), NAN);
  const auto to = tensor<kRowMajorMatrix>(C.data(), x.M, x.N, x.N);
  launch({.grid = SumParts::grid(x.M, x.N), .block = SumParts::block, .order = order},
         SumParts{kernel.series.count}, static_cast<const float*>(parts.data()), to);
  int wrong = 0;
  for (index_t i = 0; i < x.M; ++i) {
    for (index_t j = 0; j < x.N; ++j) {
      float sum = 0;
      for (index_t k = 0; k < x.K; ++k) sum += A.at(0, i, k) * B.at(0, j, k);
      wrong += C[static_cast<std::size_t>(i * x.N + j)] != sum;
    }
  }
  EXPECT_EQ(wrong, 0) << x.K << " in parts of " << along_k << ", " << name(order);
}

/// The last part is shorter.
TEST(WarpgroupSeries, KInParts) {
  for (const auto order : kOrders) {
    for (const int tiles : {1, 2, 3}) {
      expect_split_right<Series<kTileOfTwo>>({70, 45, 64 * 7 + 24}, tiles, order);
      expect_split_right<Series<kTileByTurns>>({70, 45, 64 * 7 + 24}, tiles, order);
    }
  }
  expect_split_right<Series<kTileOfTwo, ClusterShape{.down = 1, .across = 2}>>({130, 100, 500}, 2,
                                                                               ThreadOrder::late);
}

/// The same bits for any number of stages.
TEST(WarpgroupSeries, StagesAreAParameter) {
  const Shape x{130, 70, 64 * 9};
  const Stack A(1, x.M, x.K, x.M, 5), B(1, x.N, x.K, x.N, 6);
  const auto wanted = products(WarpgroupTiled<kTileOfTwo>{}, x, A, B, ThreadOrder::forward);
  for (const auto order : kOrders) {
    const auto of = [&](const auto& kernel) { return products(kernel, x, A, B, order); };
    EXPECT_EQ(of(WarpgroupTiled<kTileOfTwo, ClusterShape{}, 2>{}), wanted);
    EXPECT_EQ(of(WarpgroupTiled<kTileOfTwo, ClusterShape{}, 3>{}), wanted);
    EXPECT_EQ(of(WarpgroupTiled<kTileOfTwo, ClusterShape{}, 5>{}), wanted);
  }
}

}  // namespace
}  // namespace tessera
