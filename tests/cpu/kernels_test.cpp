// The microkernels of every instruction set that this CPU runs, each entry of its table alone,
// against scalar chains of fused multiply-adds, bit for bit; and `finish` against core/finish.hpp.
// Operands and results end at guard pages.
#include "kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpu/kernels_bench.hpp"
#include "cpu/multiply.hpp"
#include "cpu/tables.hpp"
#include "support/guard_pages.hpp"

namespace tessera {
namespace {

using cpu::MicroTile;
using testing::Bench;
using testing::Chains;
using testing::kCols;
using testing::kRows;
using testing::runnable_tables;
using testing::same;

template <class T>
class Microkernels : public ::testing::Test {
 public:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
};
TYPED_TEST_SUITE(Microkernels, testing::RealTypes, testing::TypeNames);

/// Of an A that is unpacked: the entries for full vectors of B, and the one that reads no
/// further.
template <class T, class Micro>
void expect_any_strides_right(Bench<T>& bench, Micro direct, Micro no_prefetch, Micro masked,
                              const typename Bench<T>::Tile& tile, index_t K, const char* isa) {
  const int width = tile.vectors * tile.lanes;
  for (const auto& [a_row, a_k] :
       {std::array<index_t, 2>{K + 1, 1}, {1, 17}, {-(K + 3), 1}, {2, -33}}) {
    const std::string said =
        cat(" rows ", tile.rows, " vectors ", tile.vectors, " cols ", tile.cols, " K ", K,
            tile.resume ? " resumed a " : " a ", a_row, ":", a_k);
    ASSERT_EQ(bench.call(direct, tile, a_row, a_k, width, width + 3), "")
        << isa << " direct" << said;
    ASSERT_EQ(bench.call(no_prefetch, tile, a_row, a_k, width, width + 3), "")
        << isa << " no-prefetch" << said;
    ASSERT_EQ(bench.call(masked, tile, a_row, a_k, tile.cols, tile.cols + 5), "")
        << isa << " masked" << said;
  }
}

/// One entry of each kind with all that it may be called with.
template <class T, class Entries>
void expect_entry_right(Bench<T>& bench, const Entries& table, int rows, int vectors, index_t K) {
  const int width = vectors * table.lanes;
  const auto entry = [&](const auto& entries) { return entries[rows - 1][vectors - 1]; };
  const bool is_wide = vectors > table.vectors;  // these are not for packed panels
  ASSERT_EQ(entry(table.packed) == nullptr, is_wide);
  ASSERT_NE(entry(table.direct), nullptr);
  ASSERT_NE(entry(table.no_prefetch[0]), nullptr);
  ASSERT_NE(entry(table.masked[0]), nullptr);
  ASSERT_NE(entry(table.fused_packing), nullptr);
  for (int cols = width - table.lanes + 1; cols <= width; ++cols) {
    for (const bool resume : {false, true}) {
      const typename Bench<T>::Tile tile{rows, vectors, table.lanes, cols, resume, false};
      const std::string said = cat(" rows ", rows, " vectors ", vectors, " cols ", cols, " K ", K,
                                   resume ? " resumed" : "");
      if (!is_wide) {
        ASSERT_EQ(bench.call(entry(table.packed), tile, 1, table.rows, width, width), "")
            << table.isa << " packed" << said;
      }
      if (cols == width) {
        ASSERT_EQ(bench.call_fused_packing(entry(table.fused_packing), tile, is_wide ? K + 1 : 1,
                                           is_wide ? 1 : table.rows, width, width + 3),
                  "")
            << table.isa << " fused packing" << said;
      }
      expect_any_strides_right<T>(bench, entry(table.direct), entry(table.no_prefetch[0]),
                                  entry(table.masked[0]), tile, K, table.isa);
    }
  }
}

TYPED_TEST(Microkernels, EveryEntryIsTheChain) {
  using T = TypeParam;
  for (const auto* table : runnable_tables<T>()) {
    ASSERT_LE(table->rows, kRows);
    ASSERT_LE(table->one_panel(), kCols);
    for (const index_t K : {0, 1, 2, 3, 4, 5, 6, 7, 34, 100}) {
      const Chains<T> chains(K);
      Bench<T> bench(chains);
      for (int rows = 1; rows <= table->rows; ++rows) {
        for (int vectors = 1; vectors <= table->vectors; ++vectors) {
          expect_entry_right<T>(bench, *table, rows, vectors, K);
          if (this->HasFatalFailure()) return;
        }
      }
      for (int rows = 1; rows <= table->wide_rows; ++rows) {
        expect_entry_right<T>(bench, *table, rows, table->kMaxVectors, K);
        if (this->HasFatalFailure()) return;
      }
      if (table->mr16[0][0] == nullptr) continue;
      for (int rows = 1; rows <= table->kMr16; ++rows) {
        for (int cols = 1; cols <= table->lanes; ++cols) {
          for (const bool resume : {false, true}) {
            expect_any_strides_right<T>(bench, table->mr16[0][rows - 1], table->mr16[0][rows - 1],
                                        table->masked_mr16[0][rows - 1],
                                        {rows, 1, table->lanes, cols, resume, false}, K,
                                        table->isa);
            if (this->HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TYPED_TEST(Microkernels, TheAxpyFormIsTheChain) {
  using T = TypeParam;
  for (const auto* table : runnable_tables<T>()) {
    ASSERT_GE(table->axpys, 3);
    for (const index_t K : {1, 7, 8, 9, 15, 16, 17, 100}) {
      const Chains<T> chains(K);
      Bench<T> bench(chains);
      for (int entry = 0; entry < table->axpys; ++entry) {
        const int rows = table->kAxpyRows[entry];
        ASSERT_EQ(table->axpy_entry(rows), entry);
        for (int cols = 1; cols <= kCols; ++cols) {
          for (const bool resume : {false, true}) {
            const typename Bench<T>::Tile tile{rows, 0, table->lanes, cols, resume, false};
            ASSERT_EQ(bench.call(table->axpy[entry], tile, 1, rows, cols, cols + 5), "")
                << table->isa << " rows " << rows << " cols " << cols << " K " << K << resume;
          }
        }
      }
    }
  }
}

TYPED_TEST(Microkernels, StripsAreTheChain) {
  using T = TypeParam;
  for (const auto* table : runnable_tables<T>()) {
    for (const index_t K : {1, 2, 7, 100}) {
      const Chains<T> chains(K);
      Bench<T> bench(chains);
      for (int rows = 1; rows <= table->rows; ++rows) {
        for (int at = 0; at < 2 * kCols; ++at) {
          const int cols = at / 2 + 1;
          const index_t prefetches = at % 2;
          const typename Bench<T>::Tile tile{rows, 0, table->lanes, cols, false, false, prefetches};
          for (const auto& [a_row, a_k] : {std::array<index_t, 2>{K + 1, 1}, {-(K + 3), -1}}) {
            ASSERT_EQ(bench.call(table->strips[rows - 1], tile, a_row, a_k, cols, cols + 5), "")
                << table->isa << " rows " << rows << " cols " << cols << " K " << K;
          }
        }
      }
    }
  }
}

/// Strides of rows of A that dots takes: any, as those of a panel.
std::vector<std::array<index_t, 2>> strides_of_a(int rows, index_t K) {
  return {{K + 1, 1}, {-(K + 3), -1}, {1, rows}};
}

TYPED_TEST(Microkernels, TheDotFormIsTheChain) {
  using T = TypeParam;
  for (const auto* table : runnable_tables<T>()) {
    for (const index_t K : {1, 7, 8, 15, 16, 17, 100}) {
      const Chains<T> chains(K);
      Bench<T> bench(chains);
      for (int rows = 1; rows <= table->dot_rows; ++rows) {
        for (int at = 0; at < 2 * kCols; ++at) {
          const int cols = at / 2 + 1;
          const index_t ahead = at % 2 * 512;
          const typename Bench<T>::Tile tile{rows, 0, table->lanes, cols, false, false, ahead};
          for (const auto& [a_row, a_k] : strides_of_a(rows, K)) {
            ASSERT_EQ(bench.call(table->dots[rows - 1], tile, a_row, a_k, cols, K + 5,
                                 Bench<T>::Lie::columns),
                      "")
                << table->isa << " rows " << rows << " cols " << cols << " K " << K;
          }
        }
      }
    }
  }
}

TYPED_TEST(Microkernels, TheDotFormThatArePagesApartIsTheChain) {
  using T = TypeParam;
  constexpr index_t page = 4096 / sizeof(T);
  for (const auto* table : runnable_tables<T>()) {
    for (const index_t K : {page, 2 * page - 1, 2 * page, 2 * page + 16, 3 * page}) {
      const Chains<T> chains(K);
      Bench<T> bench(chains);
      const index_t step = ceil_div(K, page) * page;
      for (int rows = 1; rows <= table->dot_rows; ++rows) {
        for (const int cols : {1, 8, 15, 16, 17, 31, 32, 33, 39, 63, 64}) {
          if ((cols - 1) * step + K > 80 * K) continue;  // more than the bench has room for
          const typename Bench<T>::Tile tile{rows, 0, table->lanes, cols, false, false, 512};
          for (const auto& [a_row, a_k] : strides_of_a(rows, K)) {
            ASSERT_EQ(bench.call(table->dots[rows - 1], tile, a_row, a_k, cols, step,
                                 Bench<T>::Lie::columns),
                      "")
                << table->isa << " rows " << rows << " cols " << cols << " K " << K;
          }
        }
      }
    }
  }
}

TYPED_TEST(Microkernels, StoresPastTheCachesToo) {
  using T = TypeParam;
  const Chains<T> chains(7);
  Bench<T> bench(chains);
  for (const auto* table : runnable_tables<T>()) {
    for (int rows = 1; rows <= table->rows; ++rows) {
      for (int vectors = 1; vectors <= table->vectors; ++vectors) {
        const int width = vectors * table->lanes;
        const auto entry = [&](const auto& entries) { return entries[rows - 1][vectors - 1]; };
        for (const bool resume : {false, true}) {
          const typename Bench<T>::Tile tile{rows, vectors, table->lanes, width, resume, true};
          ASSERT_EQ(bench.call(entry(table->packed), tile, 1, table->rows, width, width), "");
          ASSERT_EQ(bench.call(entry(table->direct), tile, 9, 1, width, width), "");
          ASSERT_EQ(bench.call(entry(table->no_prefetch[0]), tile, 9, 1, width, width), "");
          ASSERT_EQ(bench.call(entry(table->masked[0]), tile, 9, 1, width, width), "");
        }
      }
    }
  }
}

TYPED_TEST(Microkernels, ASumTakenUpAgainIsTheSameSum) {
  using T = TypeParam;
  const Chains<T> chains(100);
  for (const auto* table : runnable_tables<T>()) {
    const int rows = table->rows, cols = table->nr();
    for (const index_t cut : {1, 50, 99}) {
      std::vector<T> c(static_cast<std::size_t>(rows * cols), this->kNan);
      MicroTile<T, T> tile{
          cut,  chains.a.data(), chains.K, 1,    chains.b.data(), kCols, c.data(), cols,
          cols, c.data(),        false,    false};
      table->direct[rows - 1][table->vectors - 1](tile);
      tile.K = chains.K - cut, tile.a += cut, tile.b += cut * kCols, tile.resume = true;
      table->direct[rows - 1][table->vectors - 1](tile);
      for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < cols; ++j)
          ASSERT_TRUE(same(c[static_cast<std::size_t>(r * cols + j)],
                           chains.zero_up[static_cast<std::size_t>(r * kCols + j)]))
              << table->isa << " cut at " << cut;
      }
    }
  }
}

TEST(Kernels, TheChosenTablesAreThoseOfTheVectorPath) {
  EXPECT_EQ(cpu::kernel_set().f32.isa, std::string(name(vector_path())));
  EXPECT_EQ(cpu::kernel_set().f64.isa, std::string(name(vector_path())));
}

}  // namespace
}  // namespace tessera
