#include <gmock/gmock.h>

#include <regex>

#include "layout/parse.hpp"
#include "layout/support.hpp"
#include "tessera/layout/svg.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Table, OfAMatrixHasAHeaderRowAndDividers) {
  EXPECT_EQ(format_table(row_major(2, 6), TileMark{tuple(2, 2), tuple(0, 1)}),
            "(2,6):(6,1)\n"
            "     0    1    2    3    4    5\n"
            "  +----+----+----+----+----+----+\n"
            "0 |  0 |  1 |[ 2]|[ 3]|  4 |  5 |\n"
            "  +----+----+----+----+----+----+\n"
            "1 |  6 |  7 |[ 8]|[ 9]| 10 | 11 |\n"
            "  +----+----+----+----+----+----+\n");
}

TEST(Table, OfOneModeIsARow) {
  EXPECT_EQ(format_table(Layout(3, 2)),
            "3:2\n"
            "    0   1   2\n"
            "  +---+---+---+\n"
            "0 | 0 | 2 | 4 |\n"
            "  +---+---+---+\n");
}

TEST(Table, OfThreeModesIsAStackOfSlices) {
  EXPECT_EQ(format_table(row_major(1, 2, 2)),
            "(1,2,2):(4,2,1)\n"
            "(:,:,0)\n"
            "    0   1\n"
            "  +---+---+\n"
            "0 | 0 | 2 |\n"
            "  +---+---+\n"
            "(:,:,1)\n"
            "    0   1\n"
            "  +---+---+\n"
            "0 | 1 | 3 |\n"
            "  +---+---+\n");
}

TEST(Table, OfASwizzleShowsTheIndicesAfterIt) {
  EXPECT_EQ(format_table(parse_composed("composition(swizzle(1,0,2),(2,4):(4,1))")),
            "composition(swizzle(1,0,2),(2,4):(4,1))\n"
            "    0   1   2   3\n"
            "  +---+---+---+---+\n"
            "0 | 0 | 1 | 2 | 3 |\n"
            "  +---+---+---+---+\n"
            "1 | 5 | 4 | 7 | 6 |\n"
            "  +---+---+---+---+\n");
}

TEST(Table, AnEmptyLayoutIsItsTitle) {
  EXPECT_EQ(format_table(row_major(0, 3)), "(0,3):(3,1)\n");
  EXPECT_EQ(format_table(row_major(1000000000, 0)), "(1000000000,0):(0,1)\n");
}

TEST(Table, TilesAreClippedAtTheEdgeAndRefusedBeyondIt) {
  const std::string text = format_table(row_major(11, 7), TileMark{tuple(4, 4), tuple(2, 1)});
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), 9);
  EXPECT_THROW(format_table(row_major(11, 7), TileMark{tuple(4, 4), tuple(3, 0)}), Error);
  EXPECT_THROW(format_table(row_major(11, 7), TileMark{tuple(4, 4), tuple(-1, 0)}), Error);
  EXPECT_THROW(format_table(row_major(11, 7), TileMark{tuple(0, 4), tuple(0, 0)}), Error);
  EXPECT_THROW(format_table(row_major(11, 7), TileMark{4, 0}), Error);
}

TEST(Picture, WhatCannotBeDrawnIsRefused) {
  EXPECT_THROW(format_table(row_major(1000, 1000)), Error);
  EXPECT_THROW(svg(row_major(1000000000, 1000000000)), Error);
  EXPECT_THROW(format_table(row_major(dynamic, 8)), Error);
  EXPECT_THROW(svg(row_major(8, dynamic)), Error);
  EXPECT_THROW(svg_thread_values(row_major(4), tuple(2, 2)), Error);
  EXPECT_THROW(svg_thread_values(row_major(4, 2), tuple(2, 2)), Error);
  EXPECT_THROW(svg_swizzle(ComposedLayout(row_major(4), 0, row_major(4)), 1, 8), Error);
  EXPECT_THROW(svg_swizzle(composition(Swizzle(), row_major(4)), 0, 8), Error);
}

/// Every tag is closed in order, and '&' and '<' only appear as markup.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z]+)([^<>]*?)(/?)>|<|&(?!lt;|gt;|amp;)");
  for (std::sregex_iterator it(xml.begin(), xml.end(), tag), end; it != end; ++it) {
    if (!(*it)[2].matched) return false;
    if ((*it)[1].length() > 0) {
      if (open.empty() || open.back() != (*it)[2]) return false;
      open.pop_back();
    } else if ((*it)[4].length() == 0) {
      open.push_back((*it)[2]);
    }
  }
  return open.empty();
}

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Svg, IsExactlyThis) {
  EXPECT_EQ(
      svg(Layout(2, 3)),
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="126" height="130" viewBox="0 0 126 130" role="img">
<title>2:3</title>
<style>
text{font:13px ui-monospace,'DejaVu Sans Mono',monospace;text-anchor:middle;fill:#14202e}
rect{stroke:#5b6b7d;stroke-width:1}
.ground{fill:#ffffff;stroke:none}
.title{font-size:13px;font-weight:bold;text-anchor:start;fill:#14202e}
.axis{font-size:11px;fill:#5b6b7d}
.below{font-size:11px}
.mark{fill:none;stroke:#c2410c;stroke-width:2.5}
@media (prefers-color-scheme:dark){.ground{fill:#10161d}.title{fill:#e6edf3}.axis{fill:#9aa8b6}}
</style>
<rect class="ground" width="126" height="130"/>
<text class="title" x="20" y="34">2:3</text>
<g transform="translate(20,54)">
<text class="axis" x="35" y="15">0</text>
<text class="axis" x="69" y="15">1</text>
<text class="axis" x="7" y="44">0</text>
<rect x="18" y="22" width="34" height="34" fill="#eef4fc"/><text x="35" y="44">0</text>
<rect x="52" y="22" width="34" height="34" fill="#70a5e0"/><text x="69" y="44">3</text>
</g>
</svg>
)svg");
}

TEST(Svg, HasACellForEachIndexAndAFrameForEachOfTheTile) {
  const std::string text = svg(row_major(11, 7), TileMark{tuple(4, 4), tuple(2, 1)});
  EXPECT_TRUE(is_well_formed(text));
  EXPECT_EQ(count(text, "<rect x="), 77u);
  EXPECT_EQ(count(text, "<rect class=\"mark\""), 9u);
  EXPECT_EQ(text, svg(row_major(11, 7), TileMark{tuple(4, 4), tuple(2, 1)}));
}

TEST(Svg, OfAThreadValueMapNamesThreadAndValueOfEachCell) {
  // The accumulator of a 16x8 matrix unit: 32 threads with 4 values each.
  const Layout map = parse_layout("((4,8),(2,2)):((32,1),(16,8))");
  const std::string text = svg_thread_values(map, tuple(16, 8));
  EXPECT_TRUE(is_well_formed(text));
  for (int t = 0; t < 32; ++t) EXPECT_EQ(count(text, ">T" + std::to_string(t) + "<"), 4u) << t;
  for (int v = 0; v < 4; ++v) EXPECT_EQ(count(text, ">V" + std::to_string(v) + "<"), 32u) << v;
}

TEST(Svg, OfAThreadValueMapMarksCellsOfSeveralThreadsAndOfNone) {
  const std::string text = svg_thread_values(parse_layout("(2,2):(0,1)"), tuple(2, 2));
  EXPECT_EQ(count(text, ">T0+<"), 2u);
  EXPECT_EQ(count(text, "#d5dbe1"), 2u);
}

TEST(Svg, OfASwizzleShowsBothOrders) {
  const std::string text =
      svg_swizzle(parse_composed("composition(swizzle(2,0,3),(4,8):(8,1))"), 1, 8);
  EXPECT_TRUE(is_well_formed(text));
  EXPECT_THAT(text, HasSubstr(">before<"));
  EXPECT_THAT(text, HasSubstr(">after<"));
  EXPECT_EQ(count(text, "<rect x="), 64u);
}

TEST(Svg, EscapesNothingItShouldNot) {
  EXPECT_THAT(svg(row_major(2, 2, 2)), Not(HasSubstr("&lt;")));
  EXPECT_TRUE(is_well_formed(svg(row_major(2, 3, 2, 2))));
}

}  // namespace
}  // namespace tessera
