// Epilogues in the microkernels and outside: all give the same bits.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpu/kernels_bench.hpp"
#include "cpu/multiply.hpp"
#include "cpu/tables.hpp"
#include "kernels.hpp"
#include "support/guard_pages.hpp"

namespace tessera {
namespace {

using cpu::FinishRow;
using cpu::MicroTile;
using testing::Against;
using testing::Bench;
using testing::BetweenPages;
using testing::Chains;
using testing::kCols;
using testing::kRows;
using testing::RandomData;
using testing::runnable_tables;
using testing::same;

template <class T>
class Epilogues : public ::testing::Test {
 public:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
};
TYPED_TEST_SUITE(Epilogues, testing::RealTypes, testing::TypeNames);

// Over 60 lines: a table, one case or field a line.
TYPED_TEST(Epilogues, AnEpilogueInRegistersIsTheOneEpilogue) {
  using T = TypeParam;
  using Tile = typename Bench<T>::Tile;
  const BetweenPages<T> row_place(kRows), column_place(kCols);
  for (const auto* table : runnable_tables<T>()) {
    ASSERT_TRUE(table->finishes);
    for (const index_t K : {1, 2, 7, 34}) {
      const Chains<T> chains(K);
      Bench<T> bench(chains);
      int turn = 0;
      // Each way to end in turn.
      const auto expect_right = [&](Tile tile, void (*micro)(const MicroTile<T, T>&),
                                    bool fused_packing, index_t a_row, index_t a_k, int b_width,
                                    index_t b_step) {
        T* rows = row_place.place(tile.rows, Against::page_behind);
        T* columns = column_place.place(tile.cols, Against::page_behind);
        for (int r = 0; r < tile.rows; ++r) rows[r] = T(0.3) + static_cast<T>(r);
        for (int j = 0; j < tile.cols; ++j) columns[j] = T(0.7) - static_cast<T>(j);
        for (int way = 0; way < 4; ++way, ++turn) {
          const FinishRow<T> how{std::array{T{1}, T{-1}, T(0.7)}[turn % 3],
                                 std::array{T{0}, T{1}, T(-0.3), T{1}}[turn / 3 % 4],
                                 turn / 12 % 3 == 1 ? rows : nullptr,
                                 turn / 12 % 3 == 2 ? columns : nullptr,
                                 {}};
          tile.finish = &how;
          const std::string wrong =
              fused_packing ? bench.call_fused_packing(micro, tile, a_row, a_k, b_width, b_step)
                            : bench.call(micro, tile, a_row, a_k, b_width, b_step);
          ASSERT_EQ(wrong, "") << table->isa << " rows " << tile.rows << " cols " << tile.cols
                               << " K " << K << " resumed " << tile.resume << " streamed "
                               << tile.stream << " alpha " << how.alpha << " beta " << how.beta
                               << " bias " << turn / 12 % 3;
        }
      };
      for (int rows = 1; rows <= table->kMr16; ++rows) {
        for (int vectors = 1; vectors <= table->kMaxVectors; ++vectors) {
          const int lanes = table->lanes, width = vectors * lanes;
          const bool is_wide = vectors > table->vectors;
          for (const bool resume : {false, true}) {
            for (int cols = width - lanes + 1; cols <= width; ++cols) {
              const Tile tile{rows, vectors, lanes, cols, resume, false};
              if (rows <= (is_wide ? table->wide_rows : table->rows)) {
                expect_right(tile, table->masked[1][rows - 1][vectors - 1], false, K + 1, 1, cols,
                             cols + 5);
              }
              if (vectors == 1 && table->mr16[1][0] != nullptr)
                expect_right(tile, table->masked_mr16[1][rows - 1], false, K + 1, 1, cols,
                             cols + 5);
              if (this->HasFatalFailure()) return;
            }
            for (const bool stream : {false, true}) {
              const Tile tile{rows, vectors, lanes, width, resume, stream};
              if (vectors == 1 && table->mr16[1][0] != nullptr)
                expect_right(tile, table->mr16[1][rows - 1], false, 1, 17, width, width + 3);
              if (rows > (is_wide ? table->wide_rows : table->rows)) continue;
              const auto entry = [&](const auto& entries) {
                return entries[rows - 1][vectors - 1];
              };
              expect_right(tile, entry(table->no_prefetch[1]), false, K + 1, 1, width, width + 3);
              expect_right(tile, entry(table->direct), false, K + 1, 1, width, width + 3);
              expect_right(tile, entry(table->fused_packing), true, is_wide ? K + 1 : 1,
                           is_wide ? 1 : table->rows, width, width + 3);
              if (!is_wide)
                expect_right(tile, entry(table->packed), false, 1, table->rows, width, width);
              if (this->HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

// Over 60 lines: a table, one case or field a line.
TYPED_TEST(Epilogues, FinishIsTheOneEpilogue) {
  using T = TypeParam;
  RandomData data(5);
  std::array<T, kRows * kCols> sums, old;
  for (T& x : sums) x = static_cast<T>(data(0, 0));
  for (T& x : old) x = static_cast<T>(data(0, 0));
  sums[0] = this->kNan, sums[1] = -T{0}, sums[2] = std::numeric_limits<T>::infinity();
  sums[3] = std::numeric_limits<T>::denorm_min(), old[4] = this->kNan, old[5] = -T{0};
  const BetweenPages<T> row_place(kRows), column_place(kCols), tile_place(kRows * 50),
      c_place(kRows * 53);
  T* row_bias = row_place.place(kRows, Against::page_behind);
  for (int r = 0; r < kRows; ++r) row_bias[r] = static_cast<T>(data(0, 0));
  const std::array<T, 5> factors = {T{0}, T{1}, T{-1}, T(0.7), -T{0}};
  const std::array<LastStep<T>, 5> last_steps = {LastStep<T>{},
                                                 {Activation::relu},
                                                 {Activation::gelu},
                                                 {Activation::silu, T(-0.1), T(0.5)},
                                                 {Activation::none, T(-0.5), kMost<T>}};
  for (const auto* table : runnable_tables<T>()) {
    for (const int rows : {1, 2, table->rows}) {
      for (int cols = 1; cols <= table->nr(); ++cols) {
        T* column_bias = column_place.place(cols, Against::page_behind);
        for (int j = 0; j < cols; ++j) column_bias[j] = static_cast<T>(j) - T(20.3);
        T* tile = tile_place.place((rows - 1) * 50 + cols, Against::page_behind);
        for (int r = 0; r < rows; ++r) {
          for (int j = 0; j < cols; ++j)
            tile[r * 50 + j] = sums[static_cast<std::size_t>(r * kCols + j)];
        }
        T* c = c_place.place((rows - 1) * 53 + cols, Against::page_behind);
        for (const T alpha : factors) {
          for (const T beta : factors) {
            for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
              for (const LastStep<T>& last : last_steps) {
                for (index_t i = 0; i < (rows - 1) * 53 + cols; ++i) c[i] = T(-77);
                for (int r = 0; r < rows; ++r) {
                  for (int j = 0; j < cols; ++j)
                    c[r * 53 + j] = old[static_cast<std::size_t>(r * kCols + j)];
                }
                table->finish(tile, 50, rows, cols, c, 53,
                              {alpha, beta, bias == Bias::per_row ? row_bias : nullptr,
                               bias == Bias::per_column ? column_bias : nullptr, last});
                const EpilogueScalars<T> scalars{alpha, beta, last};
                for (index_t i = 0; i < (rows - 1) * 53 + cols; ++i) {
                  const int r = static_cast<int>(i / 53), j = static_cast<int>(i % 53);
                  const auto at = static_cast<std::size_t>(r * kCols + j);
                  const T want = j >= cols ? T(-77)
                                           : finish(
                                                 scalars, sums[at], [&] { return old[at]; },
                                                 bias == Bias::per_row      ? row_bias + r
                                                 : bias == Bias::per_column ? column_bias + j
                                                                            : nullptr);
                  ASSERT_TRUE(same(c[i], want))
                      << table->isa << " (" << r << "," << j << ") of " << rows << "x" << cols
                      << " alpha " << alpha << " beta " << beta << ": " << c[i] << ", not " << want;
                }
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera
