// The microkernels of every instruction set that this CPU runs, each entry of its table by itself,
// against scalar chains of fused multiply-adds, bit for bit; and `finish` against core/finish.hpp.
// Operands and results lie against pages that end the program when touched.
#include "kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/tables.hpp"
#include "support/guard_pages.hpp"

namespace tessera {
namespace {

using cpu::FinishRow;
using cpu::MicroTile;
using testing::Against;
using testing::BetweenPages;
using testing::RandomData;
using testing::runnable_tables;
using testing::same;

constexpr int kRows = 16, kCols = 64;  // the most of a sweep, and of a micro-tile

template <class T>
class Microkernels : public ::testing::Test {
 public:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
};
TYPED_TEST_SUITE(Microkernels, testing::RealTypes, testing::TypeNames);

/// (16,K) times (K,64) as chains from zero and from given sums; smaller micro-tiles are its corner.
template <class T>
struct Chains {
  index_t K;
  std::vector<T> a, b;                                  ///< (16,K), (K,64), row-major
  std::array<T, kRows * kCols> from, zero_up, resumed;  ///< (16,64): given sums, results

  explicit Chains(index_t depth)
      : K(depth), a(random(kRows * depth, 1)), b(random(depth * kCols, 2)) {
    const auto start = random(kRows * kCols, 3);
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kCols; ++c) {
        const auto at = static_cast<std::size_t>(r * kCols + c);
        from[at] = start[at];
        zero_up[at] = T{0}, resumed[at] = start[at];
        for (index_t k = 0; k < K; ++k) {
          zero_up[at] = std::fma(A(r, k), B(k, c), zero_up[at]);
          resumed[at] = std::fma(A(r, k), B(k, c), resumed[at]);
        }
      }
    }
  }
  T A(int r, index_t k) const { return a[static_cast<std::size_t>(r * K + k)]; }
  T B(index_t k, int c) const { return b[static_cast<std::size_t>(k * kCols + c)]; }

 private:
  static std::vector<T> random(index_t count, std::uint64_t seed) {
    RandomData data(seed);
    std::vector<T> out(static_cast<std::size_t>(count));
    for (T& x : out) x = static_cast<T>(data(0, 0));
    return out;
  }
};

/// Where a call's operands lie, and what it must leave.
template <class T>
class Bench {
 public:
  explicit Bench(const Chains<T>& chains)
      : chains_(chains),
        a_(kRows * (chains.K + 4) * 2),
        b_(chains.K * 80 + 400),
        c_(kRows * 80),
        to_(kRows * 80),
        copy_(chains.K * kCols + 1) {}

  struct Tile {
    int rows, vectors, lanes, cols;
    bool resume, stream;
    index_t ahead = 0;  ///< prefetch_k: for sweeps along columns bytes, for strips 0 or not
    const FinishRow<T>* finish = nullptr;
  };

  /// How B lies: rows of columns side by side, or columns of elements side by side.
  enum class Lie : bool { rows, columns };

  /// Calls a `fused_packing` entry, which prefetches some rows of B too.
  std::string call_fused_packing(void (*micro)(const MicroTile<T, T>&), const Tile& tile,
                                 index_t a_row, index_t a_k, int b_width, index_t b_step) {
    const index_t K = chains_.K;
    copy_to_ = copy_.place(K * b_width, Against::page_behind);
    for (index_t i = 0; i < K * b_width; ++i) copy_to_[i] = kUntouched;
    std::string wrong = call(micro, tile, a_row, a_k, b_width, b_step);
    for (index_t k = 0; k < K && wrong.empty(); ++k) {
      for (int c = 0; c < tile.cols; ++c) {
        if (!same(copy_to_[k * b_width + c], chains_.B(k, c)))
          wrong = cat("copy (", k, ",", c, ") is ", copy_to_[k * b_width + c]);
      }
    }
    copy_to_ = nullptr;
    return wrong;
  }

  /// Calls `micro` on A with these strides and on `b_width` columns of B, whose rows (or columns)
  /// are `b_step` apart; "" or what is wrong.
  std::string call(void (*micro)(const MicroTile<T, T>&), const Tile& tile, index_t a_row,
                   index_t a_k, int b_width, index_t b_step, Lie lie = Lie::rows) {
    const index_t K = chains_.K;
    // A: its lowest element is at the front of the span; it ends at the page behind.
    const index_t down = (tile.rows - 1) * a_row, along = (K - 1) * a_k;
    const index_t low = std::min<index_t>(0, down) + std::min<index_t>(0, along);
    const index_t span = std::abs(down) + std::abs(along) + 1;
    T* a = a_.place(K == 0 ? 0 : span, Against::page_behind) - (K == 0 ? 0 : low);
    for (int r = 0; r < tile.rows; ++r) {
      for (index_t k = 0; k < K; ++k) a[r * a_row + k * a_k] = chains_.A(r, k);
    }
    const index_t b_k = lie == Lie::rows ? b_step : 1, b_col = lie == Lie::rows ? 1 : b_step;
    T* b = b_.place(K == 0 ? 0 : (K - 1) * b_k + (b_width - 1) * b_col + 1, Against::page_behind);
    for (index_t k = 0; k < K; ++k) {
      // Columns that do not exist: anything.
      for (int c = 0; c < b_width; ++c)
        b[k * b_k + c * b_col] = c < tile.cols ? chains_.B(k, c) : T{99};
    }
    const index_t c_row = tile.stream ? tile.lanes * tile.vectors : 69;
    const index_t size = (tile.rows - 1) * c_row + tile.cols;
    T* c = c_.place(size, Against::page_behind);
    for (index_t i = 0; i < size; ++i) c[i] = kUntouched;
    for (int r = 0; r < tile.rows; ++r) {
      for (int j = 0; j < tile.cols; ++j) {
        if (tile.resume) c[r * c_row + j] = chains_.from[at(r, j)];
      }
    }
    MicroTile<T, T> it{K, a,     a_row,     a_k, b,           b_step,
                       c, c_row, tile.cols, c,   tile.resume, tile.stream};
    it.copy = copy_to_, it.copy_k = b_width, it.prefetch_k = tile.ahead;
    if (K >= 16) {  // anything may be prefetched
      it.prefetch_a = reinterpret_cast<const char*>(a), it.prefetch_times = K / 16;
      it.prefetch_a_bytes = K * static_cast<index_t>(sizeof(T)) / 2;
    }
    if (copy_to_ != nullptr && K >= 4) {
      it.prefetch = reinterpret_cast<const char*>(b), it.prefetch_times = K / (2 + tile.rows % 3);
      it.prefetch_k = b_step * static_cast<index_t>(sizeof(T));
    }
    const auto& sums = tile.resume ? chains_.resumed : chains_.zero_up;
    if (tile.finish != nullptr) return call_finishing(micro, it, tile, sums);
    micro(it);
    return difference(c, c_row, tile, [&](int r, int j) { return sums[at(r, j)]; });
  }

 private:
  static constexpr T kUntouched = T(-77);

  /// The epilogue into another C than the sums were taken up from.
  template <class Sums>
  std::string call_finishing(void (*micro)(const MicroTile<T, T>&), MicroTile<T, T>& it,
                             const Tile& tile, const Sums& sums) {
    const FinishRow<T>& how = *tile.finish;
    const index_t to_row = tile.stream ? tile.lanes * tile.vectors : 66;
    const index_t size = (tile.rows - 1) * to_row + tile.cols;
    T* to = to_.place(size, Against::page_behind);
    const auto old = [&](int r, int j) { return T(0.25) * static_cast<T>(r - j); };
    for (index_t i = 0; i < size; ++i) {
      const int r = static_cast<int>(i / to_row), j = static_cast<int>(i % to_row);
      to[i] = j >= tile.cols ? kUntouched : how.beta == T{0} ? T(NAN) : old(r, j);
    }
    it.finish = &how, it.to = to, it.to_row = to_row;
    micro(it);
    return difference(to, to_row, tile, [&](int r, int j) {
      const T* bias = how.row_bias != nullptr      ? how.row_bias + r
                      : how.column_bias != nullptr ? how.column_bias + j
                                                   : nullptr;
      return finish(
          EpilogueScalars<T>{how.alpha, how.beta, {}}, sums[at(r, j)], [&] { return old(r, j); },
          bias);
    });
  }
  /// Between a micro-tile's C, what lies between its rows too, and what it should be.
  template <class Want>
  std::string difference(const T* c, index_t c_row, const Tile& tile, const Want& want) const {
    for (index_t i = 0; i < (tile.rows - 1) * c_row + tile.cols; ++i) {
      const int r = static_cast<int>(i / c_row), j = static_cast<int>(i % c_row);
      const T expected = j < tile.cols ? want(r, j) : kUntouched;
      if (!same(c[i], expected)) return cat("(", r, ",", j, ") is ", c[i], ", not ", expected);
    }
    return "";
  }

  static std::size_t at(int r, int j) { return static_cast<std::size_t>(r * kCols + j); }
  const Chains<T>& chains_;
  BetweenPages<T> a_, b_, c_, to_, copy_;
  T* copy_to_ = nullptr;
};

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
        << isa << " lone" << said;
    ASSERT_EQ(bench.call(masked, tile, a_row, a_k, tile.cols, tile.cols + 5), "")
        << isa << " edge" << said;
  }
}

/// One entry of each kind in every way that it may be called.
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
            << table.isa << " copying" << said;
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
      if (table->tall[0][0] == nullptr) continue;
      for (int rows = 1; rows <= table->kTallRows; ++rows) {
        for (int cols = 1; cols <= table->lanes; ++cols) {
          for (const bool resume : {false, true}) {
            expect_any_strides_right<T>(bench, table->tall[0][rows - 1], table->tall[0][rows - 1],
                                        table->tall_masked[0][rows - 1],
                                        {rows, 1, table->lanes, cols, resume, false}, K,
                                        table->isa);
            if (this->HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TYPED_TEST(Microkernels, ASweepIsTheChain) {
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
std::vector<std::array<index_t, 2>> ways_of_a(int rows, index_t K) {
  return {{K + 1, 1}, {-(K + 3), -1}, {1, rows}};
}

TYPED_TEST(Microkernels, ASweepAlongColumnsIsTheChain) {
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
          for (const auto& [a_row, a_k] : ways_of_a(rows, K)) {
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

TYPED_TEST(Microkernels, ASweepAlongColumnsThatArePagesApartIsTheChain) {
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
          for (const auto& [a_row, a_k] : ways_of_a(rows, K)) {
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

TYPED_TEST(Microkernels, AnEpilogueInRegistersIsTheOneEpilogue) {
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
      for (int rows = 1; rows <= table->kTallRows; ++rows) {
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
              if (vectors == 1 && table->tall[1][0] != nullptr)
                expect_right(tile, table->tall_masked[1][rows - 1], false, K + 1, 1, cols,
                             cols + 5);
              if (this->HasFatalFailure()) return;
            }
            for (const bool stream : {false, true}) {
              const Tile tile{rows, vectors, lanes, width, resume, stream};
              if (vectors == 1 && table->tall[1][0] != nullptr)
                expect_right(tile, table->tall[1][rows - 1], false, 1, 17, width, width + 3);
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

TYPED_TEST(Microkernels, FinishIsTheOneEpilogue) {
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

TEST(Kernels, TheChosenTablesAreThoseOfTheVectorPath) {
  EXPECT_EQ(cpu::kernel_set().f32.isa, std::string(name(vector_path())));
  EXPECT_EQ(cpu::kernel_set().f64.isa, std::string(name(vector_path())));
}

}  // namespace
}  // namespace tessera
