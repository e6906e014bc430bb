// The axpy and the dot form of elements that share a K-group (pairs of bf16, bytes) or are
// converted (f16, bf16), with B unpacked: the bits of micro-tiles of packed panels, for all numbers
// of rows and columns and remainders of K, and nothing is read beyond B.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels.hpp"
#include "support/guard_pages.hpp"
#include "tables.hpp"
#include "tessera/core/cpu.hpp"

namespace tessera {
namespace {

using cpu::MicroTile;
using testing::Against;
using testing::BetweenPages;

constexpr index_t kMostK = 8192, kMostColumns = 70, kBetween = 3;

/// Elements of A and B, small enough that floats have no overflow.
template <class Source>
Source element(index_t i, index_t k) {
  const auto bits = static_cast<std::uint32_t>(i * 2654435761u + k * 40503u + i * k);
  if constexpr (std::is_class_v<Source>)
    return {static_cast<std::uint16_t>(0x3C00u | (bits >> 7 & 0x83FFu))};
  else return static_cast<Source>(bits >> 11);
}

template <class Table>
class Sweeps {
  using Source = typename Table::Source;
  using KGroup = typename Table::KGroup;

 public:
  explicit Sweeps(const Table& table) : table_(table), b_(kMostColumns * (kMostK + kBetween) * 2) {}

  /// B has `step` elements from one line in memory to the next, be these its rows or its columns.
  template <class S>
  void expect_same(int rows, int cols, index_t K, bool along_lines, index_t prefetch,
                   index_t step) {
    const index_t b_row = along_lines ? 1 : step, b_col = along_lines ? step : 1;
    const Against against = (cols + K) % 2 == 0 ? Against::page_behind : Against::page_in_front;
    Source* b = b_.place((K - 1) * b_row + (cols - 1) * b_col + 1, against);
    for (index_t k = 0; k < K; ++k) {
      for (int j = 0; j < cols; ++j) b[k * b_row + j * b_col] = element<Source>(j + 100, k);
    }
    std::vector<Source> a;
    for (int r = 0; r < rows; ++r) {
      for (index_t k = 0; k < K; ++k) a.push_back(element<Source>(r, k));
    }
    const std::vector<S> want = packed<S>(a, b, rows, cols, K, b_row, b_col);
    std::vector<S> got(static_cast<std::size_t>(rows * cols + 1), S{77});
    // Elements [begin, end) of K, in one KC block of several.
    const auto kc_block = [&](index_t begin, index_t end) {
      const index_t deep = end - begin, k_groups = (deep + table_.group - 1) / table_.group;
      std::vector<KGroup> panel(static_cast<std::size_t>((k_groups + table_.a_extra) * rows));
      table_.pack_a(panel.data(), rows, a.data() + begin, rows, deep, K, 1);
      MicroTile<KGroup, S> micro{};
      micro.K = k_groups, micro.k_rest = static_cast<int>(deep % table_.group);
      micro.a = panel.data(), micro.a_row = 1, micro.a_k = rows;
      micro.b = reinterpret_cast<const KGroup*>(b + begin * b_row), micro.b_k = step;
      micro.cols = cols, micro.c = got.data(), micro.c_row = cols;
      micro.prefetch_k = prefetch, micro.resume = begin > 0;
      if (table_.sum_rows != nullptr)
        micro.shifts = reinterpret_cast<const S*>(panel.data() + k_groups * rows);
      if (along_lines) table_.dots[rows - 1](micro);
      else table_.axpy[table_.axpy_entry(rows)](micro);
    };
    const index_t cut = along_lines ? 0 : K / table_.group / 2 * table_.group;
    if (cut > 0) kc_block(0, cut);
    kc_block(cut, K);
    ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(S)), 0)
        << table_.isa << (along_lines ? " lines " : " rows ") << rows << "x" << cols << "x" << K;
    ASSERT_EQ(got.back(), S{77}) << "written beyond C";
  }

 private:
  template <class S>
  std::vector<S> packed(const std::vector<Source>& a, const Source* b, int rows, int cols,
                        index_t K, index_t b_row, index_t b_col) {
    const index_t k_groups = (K + table_.group - 1) / table_.group;
    std::vector<S> out(static_cast<std::size_t>(rows * cols));
    std::vector<KGroup> panel_a(
        static_cast<std::size_t>((k_groups + table_.a_extra) * table_.rows)),
        panel_b(static_cast<std::size_t>((k_groups + table_.b_extra) * table_.nr()));
    for (int r = 0; r < rows; r += table_.rows) {
      const int down = std::min(table_.rows, rows - r);
      table_.pack_a(panel_a.data(), table_.rows, a.data() + r * K, down, K, K, 1);
      for (int j = 0; j < cols; j += table_.nr()) {
        const int across = std::min(table_.nr(), cols - j);
        table_.pack_b(panel_b.data(), table_.nr(), b + j * b_col, across, K, b_col, b_row);
        MicroTile<KGroup, S> micro{};
        micro.K = k_groups, micro.a = panel_a.data(), micro.b = panel_b.data();
        micro.b_k = table_.nr(), micro.rows = down, micro.cols = across;
        micro.c = out.data() + r * cols + j, micro.c_row = cols;
        table_.packed[down - 1][table_.vectors_of(across) - 1](micro);
      }
    }
    return out;
  }

  const Table& table_;
  const BetweenPages<Source> b_;
};

template <class S, class Table>
void expect_axpys(const Table& table) {
  Sweeps<Table> axpys(table);
  ASSERT_EQ(table.dot_rows, table.converts() ? cpu::kConvertedRows : 8);
  ASSERT_EQ(table.axpys, table.converts() ? 3 : 6);
  for (const index_t K : {1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 66, 100, 129, 258}) {
    for (int cols = 1; cols <= kMostColumns; ++cols) {
      for (int entry = 0; entry < table.axpys; ++entry) {
        axpys.template expect_same<S>(table.kAxpyRows[entry], cols, K, false, cols % 2,
                                      cols + kBetween);
      }
      for (int rows = 1; rows <= table.dot_rows; ++rows)
        axpys.template expect_same<S>(rows, cols, K, true, cols % 2 * 512, K + kBetween);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  // Lines whole pages apart, of which the longer ones are read one half behind the other.
  const auto elements = static_cast<index_t>(4096 / sizeof(typename Table::Source));
  for (const index_t bytes : {4096, 8192}) {
    const index_t K = bytes / static_cast<index_t>(sizeof(typename Table::Source));
    for (int rows = 1; rows <= table.dot_rows; ++rows) {
      for (const int cols : {64, 70}) {
        for (const index_t rest : {0, 1, 2, 7})
          axpys.template expect_same<S>(rows, cols, K - rest, true, 512,
                                        (K + elements - 1) / elements * elements);
      }
    }
  }
}

#if defined(__x86_64__)

TEST(ConvertedAxpys, HaveTheBitsOfPackedTiles) {
  for (const cpu::KernelSet* set : testing::runnable_sets()) {
    if (set == &cpu::kPortable) continue;  // converts only while it packs
    expect_axpys<float>(set->f16);
    expect_axpys<float>(set->bf16);
  }
}

TEST(KGroupAxpys, OfBrainFloatsHaveTheBitsOfPackedTiles) {
  if (!cpu_features().bf16) GTEST_SKIP() << "this CPU has no AVX512_BF16";
  expect_axpys<float>(cpu::kAvx512Bf16);
}

TEST(KGroupAxpys, OfBytesAreExact) {
  if (!cpu_features().vnni) GTEST_SKIP() << "this CPU has no AVX512_VNNI";
  expect_axpys<std::int32_t>(cpu::kAvx512Vnni.i8);
  expect_axpys<std::int32_t>(cpu::kAvx512Vnni.u8);
  expect_axpys<std::int32_t>(cpu::kAvx512Vnni.u8i8);
  expect_axpys<std::int32_t>(cpu::kAvx512Vnni.i8u8);
}

#endif

}  // namespace
}  // namespace tessera
