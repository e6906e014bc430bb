// Descriptors of matrix units from layouts and swizzles: the fields of known tiles, and that the
// unit, given these, reads every element where the layout puts it.
#include "tessera/ops/descriptor.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tessera/ops/bulk.hpp"

namespace tessera {
namespace {

struct Row {
  const char* what;
  Layout layout;
  SwizzleMode mode;
  int bytes;  ///< of an element
  std::uint64_t bits;
};

/// Operands at address 0x8400.
const std::vector<Row>& table() {
  using enum SwizzleMode;
  const Layout cores(tuple(64, tuple(8, 8)), tuple(8, tuple(1, 512)));
  const Layout panels(tuple(256, tuple(64, 2)), tuple(64, tuple(1, 256 * 64)));
  const Layout by_mn(tuple(tuple(64, 4), 64), tuple(tuple(1, 4096), 64));
  const Layout narrow(tuple(tuple(32, 4), 64), tuple(tuple(1, 2048), 32));
  static const std::vector<Row> rows = {
      {"bf16 K-major 128B", row_major(256, 64), bytes_128, 2, 0x4000004000010840},
      {"tf32 K-major 128B", row_major(256, 32), bytes_128, 4, 0x4000004000010840},
      {"f8 and i8 K-major 128B", row_major(256, 128), bytes_128, 1, 0x4000004000010840},
      {"bf16 K-major 64B", row_major(256, 32), bytes_64, 2, 0x8000002000010840},
      {"bf16 K-major 32B", row_major(64, 16), bytes_32, 2, 0xc000001000010840},
      {"bf16 K-major in cores", cores, none, 2, 0x0000000800400840},
      {"bf16 K-major in two panels", panels, bytes_128, 2, 0x4000004000010840},
      {"bf16 MN-major 128B", by_mn, bytes_128, 2, 0x4000004002000840},
      {"bf16 MN-major 64B", narrow, bytes_64, 2, 0x8000002001000840},
  };
  return rows;
}

/// How many elements the unit reads from a wrong address.
int misread(const Layout& layout, SwizzleMode mode, int bytes, std::uint32_t base) {
  const Swizzle swizzle = make_swizzle(mode, bytes);
  const int depth = 32 / bytes;
  UnitDescriptor d = detail::describe(layout, mode, bytes);
  int wrong = 0;
  for (int first = 0; first < layout.shape.mode(1).product(); first += depth) {
    d.start = base + static_cast<std::uint32_t>(layout(0, first) * bytes);
    const UnitDescriptor read = descriptor_of(bits_of(d));
    for (int mn = 0; mn < layout.shape.mode(0).product(); ++mn) {
      for (int k = 0; k < depth; ++k) {
        const auto wanted =
            base + static_cast<std::uint32_t>(swizzle(layout(mn, first + k)) * bytes);
        wrong += unit_address(read, detail::major_of(layout), mn, k, bytes) != wanted;
      }
    }
  }
  return wrong;
}

TEST(Descriptor, HasTheFieldsOfTheTable) {
  for (const Row& row : table()) {
    UnitDescriptor d = detail::describe(row.layout, row.mode, row.bytes);
    d.start = 0x8400;
    EXPECT_EQ(bits_of(d), row.bits) << row.what << std::hex << ": " << bits_of(d);
    EXPECT_EQ(descriptor_of(bits_of(d)), d) << row.what;
  }
}

TEST(Descriptor, LeadsTheUnitToEveryElement) {
  for (const Row& row : table()) {
    EXPECT_EQ(misread(row.layout, row.mode, row.bytes, 0x8400), 0) << row.what;
    EXPECT_TRUE(detail::is_canonical(row.layout, row.mode, row.bytes)) << row.what;
  }
}

TEST(Descriptor, LeadsElsewhereWhereTheBaseIsNoMultipleOfThePattern) {
  EXPECT_GT(misread(row_major(64, 64), SwizzleMode::bytes_128, 2, 0x8480), 0);
}

/// The check of a few elements at compile time against all elements, for layouts of all kinds: what
/// it takes is read right, and what it refuses is not.
TEST(Descriptor, CanonicalLayoutsAreThoseThatAreReadRight) {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<int> of) { return of.begin()[random() % of.size()]; };
  int taken = 0;
  for (int i = 0; i < 10000; ++i) {
    const int bytes = pick({1, 2, 4}), width = pick({16, 32, 64, 128});
    const auto mode = static_cast<SwizzleMode>(pick({0, 1, 2, 3}));
    const int wide = width / bytes, rows = 8 * pick({1, 2, 8, 16}), depth = 32 / bytes;
    const int cols = depth * pick({1, 2, 4});
    Layout layout;
    switch (pick({0, 1, 2, 3})) {
      case 0: layout = row_major(rows, cols); break;
      case 1: layout = {tuple(rows, cols), tuple(wide, 1)}; break;
      case 2: layout = {tuple(rows, cols), tuple(1, wide)}; break;
      default:
        if (rows % wide != 0) {
          --i;
          continue;
        }
        layout = {tuple(tuple(wide, rows / wide), cols), tuple(tuple(1, wide * cols), wide)};
    }
    if (bytes != 2 && detail::major_of(layout) == Major::mn) {  // no such instruction
      --i;
      continue;
    }
    const bool is_right = misread(layout, mode, bytes, 0x8400) == 0;
    EXPECT_EQ(detail::is_canonical(layout, mode, bytes), is_right)
        << "layout " << i << ", " << bytes << " bytes, mode " << static_cast<int>(mode);
    taken += is_right;
    // At half of the pattern it is read from elsewhere, so UnitTiles are aligned to the whole one.
    if (is_right && mode != SwizzleMode::none && i % 16 == 0) {
      EXPECT_GT(misread(layout, mode, bytes, 0x8480), 0) << "layout " << i;
    }
  }
  EXPECT_GT(taken, 500);
}

template <class T>
void expect_unit_layouts() {
  for (const Major major : {Major::k, Major::mn}) {
    if (major == Major::mn && sizeof(T) != 2) continue;
    for (const int mn : {64, 128, 192, 256}) {
      const Layout layout = unit_layout<T>(major, mn, 128 / static_cast<int>(sizeof(T)));
      EXPECT_EQ(misread(layout, SwizzleMode::bytes_128, sizeof(T), 0x8400), 0)
          << sizeof(T) << " bytes, " << mn;
      EXPECT_EQ(detail::major_of(layout), major);
      EXPECT_EQ(layout.cosize(), layout.size());
    }
  }
}

TEST(Descriptor, LayoutsOfOperandsAreReadRight) {
  expect_unit_layouts<bf16>();
  expect_unit_layouts<float>();
  expect_unit_layouts<f8e4m3>();
}

}  // namespace
}  // namespace tessera
