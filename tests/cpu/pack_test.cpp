// Packed panels are a Layout: what `pack` writes is what that Layout says, element by element, for
// every instruction set, type, order of strides and remainder, and nothing beyond is read or
// written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/tables.hpp"
#include "support/guard_pages.hpp"
#include "tessera/core/small_float.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cpu/packed_matrix.hpp"
#include "tessera/layout/print.hpp"

namespace tessera {
namespace {

using cpu::panel_layout;
using testing::Against;
using testing::BetweenPages;
using testing::runnable_sets;

TEST(PackedLayout, IsPanelsOneAfterTheOther) {
  EXPECT_EQ(to_string(panel_layout(8, 20, 5)), "((8,3),(5,1)):((1,40),(8,120))");
  for (index_t line = 0; line < 24; ++line) {
    for (index_t k = 0; k < 5; ++k)
      EXPECT_EQ(panel_layout(8, 24, 5)(line, k), line / 8 * 40 + k * 8 + line % 8);
  }
}

/// One way in which the lines lie: strides as functions of the extents.
struct Lie {
  index_t line, k;
};
std::vector<Lie> all_ways(index_t lines, index_t K) {
  return {{K + 3, 1},        {1, lines + 2}, {2, 2 * lines + 1}, {-(K + 1), 1},
          {1, -(lines + 2)}, {K, 1},         {1, lines}};
}

constexpr int kSentinel = 0x5A;

/// Packs for every count of lines, depth and order of strides, and hands the panels to `check`,
/// which says what is wrong with them. value(line, k): the elements; K-groups(K): K-groups of a
/// line.
template <class Source, class KGroup, class Value, class KGroups, class Check>
void expect_packed(const char* isa, cpu::Pack<Source, KGroup> pack, const std::vector<int>& widths,
                   Value value, KGroups k_groups, Check check) {
  const BetweenPages<Source> source(200'000);
  for (const int width : widths) {
    for (const index_t lines : {1, 4, 5, width - 1, width, width + 1, 2 * width + 3}) {
      for (const index_t K : {1, 2, 3, 7, 8, 9, 17, 64, 66}) {
        if (lines < 1) continue;
        for (const Lie& lie : all_ways(lines, K)) {
          const index_t low =
              std::min<index_t>(0, (lines - 1) * lie.line) + std::min<index_t>(0, (K - 1) * lie.k);
          const index_t span = std::abs((lines - 1) * lie.line) + std::abs((K - 1) * lie.k) + 1;
          for (const Against against : {Against::page_behind, Against::page_in_front}) {
            Source* first = source.place(span, against) - low;
            std::fill_n(first + low, span, Source{});
            for (index_t line = 0; line < lines; ++line) {
              for (index_t k = 0; k < K; ++k) first[line * lie.line + k * lie.k] = value(line, k);
            }
            const index_t panels = (lines + width - 1) / width;
            const auto count = static_cast<std::size_t>(panels * width * k_groups(K));
            std::vector<KGroup> dst(count + 32);
            std::memset(dst.data(), kSentinel, dst.size() * sizeof(KGroup));
            pack(dst.data(), width, first, lines, K, lie.line, lie.k);
            std::string wrong = check(dst.data(), width, panels, lines, K);
            for (std::size_t i = count * sizeof(KGroup); i < dst.size() * sizeof(KGroup); ++i) {
              if (reinterpret_cast<unsigned char*>(dst.data())[i] != kSentinel)
                wrong = "written beyond the last panel";
            }
            ASSERT_EQ(wrong, "") << isa << " width " << width << " lines " << lines << " K " << K
                                 << " strides " << lie.line << ":" << lie.k;
          }
        }
      }
    }
  }
}

template <class Table>
std::vector<int> widths_of(const Table& table) {
  std::vector<int> out = {table.rows};
  for (int v = 1; v <= table.vectors; ++v) out.push_back(v * table.lanes);
  return out;
}

/// Panels whose K-groups are elements, as they are or converted: element(line, k) at panel_layout;
/// where lines are missing, the first of the panel.
template <class Table, class Value, class Element>
void expect_elements(const Table& table, Value value, Element element) {
  using KGroup = std::decay_t<decltype(element(0, 0))>;
  const auto check = [&](const KGroup* dst, index_t width, index_t panels, index_t lines,
                         index_t K) -> std::string {
    const Layout layout = panel_layout(width, lines, K);
    for (index_t line = 0; line < width * panels; ++line) {
      for (index_t k = 0; k < K; ++k) {
        const index_t from = line < lines ? line : line / width * width;  // the panel's first
        const KGroup want = element(from, k), got = dst[layout(line, k)];
        if (std::memcmp(&got, &want, sizeof(KGroup)) != 0)
          return cat("(", line, ",", k, ") is ", got, ", not ", want);
      }
    }
    return "";
  };
  const auto k_groups = [](index_t K) { return K; };
  expect_packed(table.isa, table.pack_a, widths_of(table), value, k_groups, check);
  expect_packed(table.isa, table.pack_b, widths_of(table), value, k_groups, check);
}

TEST(Pack, RealElementsLieAsTheLayoutSays) {
  const auto single = [](index_t line, index_t k) {
    return static_cast<float>(line * 1000 + k + 1);
  };
  const auto whole = [](index_t line, index_t k) {
    return static_cast<double>(line * 1000 + k + 1);
  };
  for (const cpu::KernelSet* set : runnable_sets()) {
    expect_elements(set->f32, single, single);
    expect_elements(set->f64, whole, whole);
  }
}

/// Bit patterns of 16 bits, every one in turn; NaN are left to the next test.
std::uint16_t pattern(index_t line, index_t k, bool is_nan(std::uint16_t)) {
  const auto bits = static_cast<std::uint16_t>((line * 977 + k * 31013 + 5) & 0xFFFF);
  return is_nan(bits) ? std::uint16_t{1} : bits;
}
bool is_half_nan(std::uint16_t bits) { return (bits & 0x7C00) == 0x7C00 && (bits & 0x3FF) != 0; }
bool is_brain_nan(std::uint16_t bits) { return (bits & 0x7F80) == 0x7F80 && (bits & 0x7F) != 0; }

TEST(Pack, NarrowElementsAreConvertedExactly) {
  const auto half = [](index_t i, index_t k) { return pattern(i, k, is_half_nan); };
  const auto brain = [](index_t i, index_t k) { return pattern(i, k, is_brain_nan); };
  for (const cpu::KernelSet* set : runnable_sets()) {
    expect_elements(
        set->f16, [&](index_t i, index_t k) { return cpu::HalfBits{half(i, k)}; },
        [&](index_t i, index_t k) { return static_cast<float>(f16::from_bits(half(i, k))); });
    expect_elements(
        set->bf16, [&](index_t i, index_t k) { return cpu::BrainBits{brain(i, k)}; },
        [&](index_t i, index_t k) { return static_cast<float>(bf16::from_bits(brain(i, k))); });
  }
}

/// All 65536 patterns as one line: as long as it gets, through the vectors and the remainder.
template <class Table, class Source, class Narrow>
void expect_all_patterns(const Table& table, bool is_nan(std::uint16_t)) {
  constexpr index_t count = 65536;
  std::vector<Source> source(count);
  for (index_t i = 0; i < count; ++i)
    source[static_cast<std::size_t>(i)] = Source{static_cast<std::uint16_t>(i)};
  const int width = table.rows;
  std::vector<float> along(static_cast<std::size_t>(count * width)),
      across(static_cast<std::size_t>((count / width + 1) * width));
  table.pack_a(along.data(), width, source.data(), 1, count, count, 1);   // one line
  table.pack_a(across.data(), width, source.data(), count, 1, 1, count);  // one column
  for (index_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float want = static_cast<float>(Narrow::from_bits(bits));
    for (const float got :
         {along[static_cast<std::size_t>(i * width)], across[static_cast<std::size_t>(i)]}) {
      if (is_nan(bits)) ASSERT_TRUE(got != got) << table.isa << " " << i;
      else ASSERT_EQ(std::memcmp(&got, &want, sizeof got), 0) << table.isa << " " << i;
    }
  }
}

TEST(Pack, EveryHalfAndEveryBrainFloatIsConvertedExactly) {
  for (const cpu::KernelSet* set : runnable_sets()) {
    expect_all_patterns<cpu::KernelsF16, cpu::HalfBits, f16>(set->f16, is_half_nan);
    expect_all_patterns<cpu::KernelsBf16, cpu::BrainBits, bf16>(set->bf16, is_brain_nan);
  }
}

/// K-groups of several elements, as bits: element (line, k) is part k % group of K-group (line, k /
/// group). The same layout, over K-groups. part(value): the element unpacked in its K-group.
template <class Pack, class Table, class Value, class Part>
void expect_k_groups(const Table& table, Pack pack, Value value, Part part) {
  using KGroup = std::uint32_t;
  const int group = table.group, bits = 32 / group;
  const int extra = pack == table.pack_a ? table.a_extra : table.b_extra;
  const auto k_groups = [&](index_t K) { return (K + group - 1) / group + extra; };
  const auto check = [&](const KGroup* dst, index_t width, index_t panels, index_t lines,
                         index_t K) -> std::string {
    const Layout layout = panel_layout(width, lines, k_groups(K));
    for (index_t line = 0; line < width * panels; ++line) {
      for (index_t w = 0; w < k_groups(K) - extra; ++w) {
        KGroup want = 0;
        for (int g = 0; g < group; ++g) {
          const index_t k = w * group + g;
          const bool exists = line < lines && k < K;
          want |= (part(exists ? value(line, k) : decltype(value(0, 0)){}) &
                   (~KGroup{0} >> (32 - bits)))
                  << bits * g;
        }
        if (dst[layout(line, w)] != want)
          return cat("word (", line, ",", w, ") is ", dst[layout(line, w)], ", not ", want);
      }
    }
    return "";
  };
  expect_packed(table.isa, pack, widths_of(table), value, k_groups, check);
}

/// Bytes that take every value.
template <class T>
T byte(index_t line, index_t k) {
  return static_cast<T>((line * 37 + k * 101 + 3) & 0xFF);
}

TEST(Pack, PairsOfIntegersLieInKGroups) {
  const auto widened = [](auto x) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x));
  };
  for (const cpu::KernelSet* set : runnable_sets()) {
    expect_k_groups(set->i8, set->i8.pack_a, byte<std::int8_t>, widened);
    expect_k_groups(set->i8, set->i8.pack_b, byte<std::int8_t>, widened);
    expect_k_groups(set->u8, set->u8.pack_a, byte<std::uint8_t>, widened);
    expect_k_groups(set->u8, set->u8.pack_b, byte<std::uint8_t>, widened);
  }
}

#if defined(__x86_64__)
TEST(Pack, PairsOfBrainFloatsLieInKGroups) {
  if (!cpu_features().bf16) GTEST_SKIP() << "this CPU has no AVX512_BF16";
  const auto value = [](index_t i, index_t k) {
    return cpu::BrainBits{static_cast<std::uint16_t>(i * 977 + k * 31013)};
  };
  const auto bits = [](cpu::BrainBits x) { return std::uint32_t{x.bits}; };
  expect_k_groups(cpu::kAvx512Bf16, cpu::kAvx512Bf16.pack_a, value, bits);
  expect_k_groups(cpu::kAvx512Bf16, cpu::kAvx512Bf16.pack_b, value, bits);
}

TEST(Pack, QuadsOfBytesLieInKGroupsShiftedToTheSignsThatTheInstructionWants) {
  if (!cpu_features().vnni) GTEST_SKIP() << "this CPU has no AVX512_VNNI";
  const auto as_it_is = [](auto x) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(x));
  };
  const auto flipped = [](auto x) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(x)) ^ 0x80u;
  };
  expect_k_groups(cpu::kAvx512Vnni.i8, cpu::kAvx512Vnni.i8.pack_a, byte<std::int8_t>, as_it_is);
  expect_k_groups(cpu::kAvx512Vnni.i8, cpu::kAvx512Vnni.i8.pack_b, byte<std::int8_t>, flipped);
  expect_k_groups(cpu::kAvx512Vnni.u8, cpu::kAvx512Vnni.u8.pack_a, byte<std::uint8_t>, as_it_is);
  expect_k_groups(cpu::kAvx512Vnni.u8, cpu::kAvx512Vnni.u8.pack_b, byte<std::uint8_t>, flipped);
}
#endif

}  // namespace
}  // namespace tessera
