// K-groups of several elements that microkernels read in place: bf16 in pairs, bytes in fours.
// Such an entry gives the same bits as the packed one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/tables.hpp"
#include "support/guard_pages.hpp"

namespace tessera {
namespace {

#if defined(__x86_64__)
using testing::Against;
using testing::BetweenPages;

/// Every entry for K-groups of several elements that are unpacked makes what the packed one makes:
/// `direct` of rows of A on any address, `fused_packing` of B, with a panel of B in passing. Values
/// from element(i).
template <class In, class Table, class Element>
void expect_in_place_is_packed(const Table& table, Element element) {
  using Source = typename Table::Source;
  using Sum = typename cpu::Gemm<In>::Sum;
  constexpr index_t c_row = 50;
  for (const index_t k_groups : {1, 2, 3, 4, 8, 65}) {
    const index_t K = k_groups * table.group, a_row = K + 2 * table.group, b_row = table.nr() + 1;
    ASSERT_TRUE(table.reads_a(K, a_row, 1) && table.copies_b(K));
    EXPECT_FALSE(table.reads_a(K, a_row + 1, 1) || table.reads_a(K, a_row, 2));
    EXPECT_FALSE(table.reads_a(K + 1, a_row, 1) || table.copies_b(K + 1));
    const BetweenPages<In> a_place(8 * a_row + 1), b_place(K * b_row);
    const BetweenPages<std::uint32_t> copy_place(k_groups * table.nr());
    for (int rows = 1; rows <= table.rows; ++rows) {
      for (int vectors = 1; vectors <= table.vectors; ++vectors) {
        const int cols = vectors * table.lanes;
        const auto size = [](index_t n) { return static_cast<std::size_t>(n); };
        // A ends an element before the page: its K-groups lie on odd addresses.
        const index_t a_size = (rows - 1) * a_row + K, b_size = (K - 1) * b_row + cols;
        In* const a = a_place.place(a_size + 1, Against::page_behind);
        In* const b = b_place.place(b_size, Against::page_behind);
        for (index_t i = 0; i < a_size; ++i) a[i] = element(i);
        for (index_t i = 0; i < b_size; ++i) b[i] = element(i * 7 + 1);
        std::vector<std::uint32_t> panel_a(size((k_groups + table.a_extra) * table.rows)),
            panel_b(size(k_groups * cols));
        table.pack_a(panel_a.data(), table.rows, reinterpret_cast<const Source*>(a), rows, K, a_row,
                     1);
        table.pack_b(panel_b.data(), cols, reinterpret_cast<const Source*>(b), cols, K, 1, b_row);
        for (const bool resume : {false, true}) {
          std::vector<Sum> expected(size(rows * c_row), Sum{3}), got = expected, copied = expected;
          cpu::MicroTile<std::uint32_t, Sum> tile{
              k_groups,        panel_a.data(), 1,    table.rows, panel_b.data(), cols,
              expected.data(), c_row,          cols, nullptr,    resume,         false};
          table.packed[rows - 1][vectors - 1](tile);
          auto fused_packing = tile;
          fused_packing.b = reinterpret_cast<const std::uint32_t*>(b), fused_packing.b_k = b_row;
          fused_packing.copy = copy_place.place(k_groups * cols, Against::page_behind);
          fused_packing.copy_k = cols, fused_packing.c = copied.data();
          fused_packing.prefetch = reinterpret_cast<const char*>(b),
          fused_packing.prefetch_times = k_groups / 4;
          fused_packing.prefetch_line = fused_packing.prefetch_k = 100;
          table.fused_packing[rows - 1][vectors - 1](fused_packing);
          ASSERT_EQ(copied, expected) << rows << " rows, " << vectors << " vectors, K " << K;
          ASSERT_TRUE(std::equal(panel_b.begin(), panel_b.end(), fused_packing.copy));
          tile.a = reinterpret_cast<const std::uint32_t*>(a), tile.a_row = a_row / table.group;
          tile.a_k = 1, tile.c = got.data();
          Sum shifts[Table::kMostRows];
          if (table.sum_rows != nullptr) {
            table.sum_rows(shifts, tile.a, rows, k_groups, tile.a_row);
            tile.shifts = shifts;
          }
          table.direct[rows - 1][vectors - 1](tile);
          ASSERT_EQ(got, expected) << rows << " rows, " << vectors << " vectors, K " << K;
        }
      }
    }
  }
}

TEST(InPlace, BytesMakeWhatPackedOnesMake) {
  if (!cpu_features().vnni) GTEST_SKIP() << "this CPU has no AVX512_VNNI";
  expect_in_place_is_packed<std::int8_t>(
      cpu::kAvx512Vnni.i8, [](index_t i) { return static_cast<std::int8_t>(i * 37 + 128); });
  expect_in_place_is_packed<std::uint8_t>(
      cpu::kAvx512Vnni.u8, [](index_t i) { return static_cast<std::uint8_t>(i * 37 + 255); });
}

TEST(InPlace, BrainFloatsMakeWhatPackedOnesMake) {
  if (!cpu_features().bf16) GTEST_SKIP() << "this CPU has no AVX512_BF16";
  expect_in_place_is_packed<bf16>(cpu::kAvx512Bf16, [](index_t i) {
    return convert<bf16>(static_cast<float>(i * 37 % 101 - 50) / 64.f);
  });
}
#endif

}  // namespace
}  // namespace tessera
