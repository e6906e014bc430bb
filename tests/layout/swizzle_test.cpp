#include "tessera/layout/swizzle.hpp"

#include <gtest/gtest.h>

#include "layout/support.hpp"

namespace tessera {
namespace {

using namespace testing_layouts;

TEST(Swizzle, IsItsOwnInverseAndPermutesItsRange) {
  for_all("s(s(i)) == i, and every index of a range appears once", [] {
    const int bits = static_cast<int>(pick(0, 3)), base = static_cast<int>(pick(0, 3));
    const int shift = static_cast<int>(pick(bits, 4)) * (pick(0, 1) ? 1 : -1);
    const Swizzle s(bits, base, shift);
    std::set<index_t> seen;
    for (index_t i = 0; i < s.size(); ++i) {
      RC_ASSERT(s(s(i)) == i);
      RC_ASSERT(s(i) >= 0);
      RC_ASSERT(s(i) < s.size());
      RC_ASSERT(s(i) % (index_t{1} << base) == i % (index_t{1} << base));
      RC_ASSERT(s(i + 3 * s.size()) == s(i) + 3 * s.size());
      seen.insert(s(i));
    }
    RC_ASSERT(static_cast<index_t>(seen.size()) == s.size());
  });
}

/// How many different 16-byte bank groups (of eight) the pieces at one column fall into, over the
/// eight rows that are read together.
template <class L>
std::size_t bank_groups(const L& layout, index_t column, int element_bytes) {
  std::set<index_t> groups;
  for (index_t row = 0; row < 8; ++row) groups.insert(layout(row, column) * element_bytes / 16 % 8);
  return groups.size();
}

TEST(Swizzle, HardwareModesSpreadAColumnOverTheBanks) {
  for (const int bytes : {1, 2, 4, 8}) {
    const index_t piece = 16 / bytes;
    for (const auto& [mode, row_bytes] :
         {std::pair(SwizzleMode::bytes_32, 32), std::pair(SwizzleMode::bytes_64, 64),
          std::pair(SwizzleMode::bytes_128, 128)}) {
      const Layout plain = row_major(8, row_bytes / bytes);
      const ComposedLayout swizzled = composition(make_swizzle(mode, bytes), plain);
      for (index_t c = 0; c < row_bytes / bytes; c += piece) {
        EXPECT_EQ(bank_groups(plain, c, bytes), static_cast<std::size_t>(128 / row_bytes));
        EXPECT_EQ(bank_groups(swizzled, c, bytes), 8u) << row_bytes;
      }
    }
  }
  EXPECT_EQ(make_swizzle(SwizzleMode::bytes_128, 2), Swizzle(3, 3, 3));
  EXPECT_EQ(make_swizzle(SwizzleMode::none, 4).bits, 0);
}

TEST(Swizzle, ForLdmatrixReadsEightRowsWithoutConflict) {
  for (const int bytes : {1, 2, 4})
    for (index_t row_bytes = 16; row_bytes <= 1024; row_bytes *= 2) {
      const index_t row = row_bytes / bytes;
      const ComposedLayout swizzled =
          composition(make_ldmatrix_swizzle(row, bytes), row_major(8, row));
      for (index_t c = 0; c < row; c += 16 / bytes)
        EXPECT_EQ(bank_groups(swizzled, c, bytes), 8u) << row_bytes << " bytes, column " << c;
    }
}

TEST(Swizzle, ByRowsSpreadsThoseRows) {
  const Swizzle s = make_swizzle(8, 64, 8);
  EXPECT_EQ(s, Swizzle(3, 3, 3));
  EXPECT_EQ(bank_groups(composition(s, row_major(8, 64)), 8, 2), 8u);
}

TEST(Swizzle, ImpossibleOnesAreRefused) {
  EXPECT_THROW(Swizzle(3, 0, 2), Error);
  EXPECT_THROW(Swizzle(-1, 0, 2), Error);
  EXPECT_THROW(Swizzle(1, -1, 2), Error);
  EXPECT_THROW(Swizzle(20, 20, 20), Error);
  EXPECT_THROW(Swizzle(1, 0, std::numeric_limits<int>::min()), Error);
  EXPECT_THROW(Swizzle(std::numeric_limits<int>::max(), std::numeric_limits<int>::max(), 1), Error);
  EXPECT_THROW(make_swizzle(3, 64, 8), Error);
  EXPECT_THROW(make_swizzle(SwizzleMode::bytes_64, 0), Error);
  EXPECT_THROW(make_swizzle(SwizzleMode::bytes_64, 3), Error);
  EXPECT_THROW(make_ldmatrix_swizzle(2, 4), Error);
}

TEST(ComposedLayout, IsOuterAfterOffsetAfterInner) {
  for_all("c(i) == outer(offset + inner(i)), below cosize", [] {
    const Layout inner = random_injective(4);
    const index_t offset = pick(0, 20);
    const Swizzle s(2, 1, 3);
    const ComposedLayout c(s, offset, inner);
    for (index_t i = 0; i < inner.size(); ++i) {
      RC_ASSERT(c(i) == s(offset + inner(i)));
      RC_ASSERT(c(i) < c.cosize());
    }
    const Layout outer = random_power_of_two(2);
    const ComposedLayout d(outer, offset, inner);
    for (index_t i = 0; i < inner.size(); ++i) RC_ASSERT(d(i) == outer(offset + inner(i)));
  });
}

TEST(ComposedLayout, DivisionActsOnTheInnerLayout) {
  const ComposedLayout c = composition(Swizzle(3, 2, 3), row_major(8, 32));
  const ComposedLayout z = zipped_divide(c, tuple(4, 8));
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 32; ++j)
      EXPECT_EQ(c(i, j), z(tuple(i % 4, j % 8), tuple(i / 4, j / 8)));
}

}  // namespace
}  // namespace tessera
