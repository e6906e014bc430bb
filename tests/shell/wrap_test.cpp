// Texts and tables in the lines of a terminal.
#include "shell/wrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "shell/table.hpp"

namespace tessera::shell {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

constexpr const char* kAnswer =
    "likely cause: a barrier is missing\n"
    "  line 24 reads what other threads have written in line 22, and they may not have done so.\n"
    "  try: t.barrier() between the lines 22 and 24, where each thread of the block passes it\n"
    "      22 | s.a(y, x) = row < SIZE && k + x < SIZE ? A(row, k + x) : 0.0f;  // stays as it is\n"
    "     0  x x x x x x x x x x x x x x x x  x x x x x x x x x x x x x x x x  x x x x x x x x\n";

TEST(Wrap, LinesFitAndNoWordIsLost) {
  for (const std::size_t columns : {40, 60, 80}) {
    const std::string out = wrapped(kAnswer, columns);
    for (const auto& line : lines_of(out)) {
      const bool is_kept =
          line.find(" | ") != std::string::npos || line.find("x x x") != std::string::npos;
      EXPECT_TRUE(is_kept || shown_width(line) <= columns) << columns << ": " << line;
    }
    std::istringstream before(kAnswer), after(out);
    std::string a, b;
    while (before >> a) {
      ASSERT_TRUE(after >> b);
      EXPECT_EQ(a, b);
    }
    EXPECT_NE(out.find("  try: "), std::string::npos);
  }
  EXPECT_EQ(wrapped(kAnswer, 0), kAnswer);
}

TEST(Wrap, LaterLinesBeginUnderTheText) {
  EXPECT_EQ(wrapped("- one two three four five six\n", 20), "- one two three four\n  five six\n");
  EXPECT_EQ(wrapped("  try: one two three four\n", 24), "  try: one two three\n       four\n");
  EXPECT_EQ(wrapped("\033[33mone two three four\033[0m five", 19),
            "\033[33mone two three four\033[0m\nfive");
}

TEST(Wrap, ALineOfTwoColumnsGoesOnUnderTheSecond) {
  EXPECT_EQ(wrapped("  name  what it means to you\n", 26),
            "  name  what it means to\n        you\n");
  EXPECT_EQ(wrapped("a long name of an entry   one two three four\n", 24),
            "a long name of an entry \n one two three four\n")
      << "no room under the second";
  EXPECT_EQ(wrapped("  tiled                    a block stages tiles of A\n", 46),
            "  tiled                    a block stages\n" + std::string(27, ' ') + "tiles of A\n")
      << "a wide gap makes no picture";
  const std::string example = "  tessera multiply a.npy b.npy -o c.npy\n";
  EXPECT_EQ(wrapped(example, 30), example) << "people copy it";
}

TEST(Wrap, EntriesOfAPageAreFilled) {
  const std::string page =
      "Variables:\n\n  NAME   one two\n         three\n  OTHER  four\nText that\nends.\n";
  EXPECT_EQ(reflowed(page, 60),
            "Variables:\n\n  NAME   one two three\n  OTHER  four\nText that ends.\n");
}

TEST(Wrap, TheLastColumnOfATableWraps) {
  Table table({{"name"}, {"remark"}}, Narrow::wrapped);
  table.add({"packed", "one two three four five six"});
  EXPECT_EQ(
      table.text(24),
      "name    remark\n------  ----------------\npacked  one two three\n        four five six\n");
  EXPECT_NE(table.text().find("four five six"), std::string::npos);
}

TEST(Wrap, APageIsFilledParagraphByParagraph) {
  const std::string page =
      "One line of a\nparagraph.\n\n    code  as it is\n\n- an item\n  goes on\n- another\n";
  EXPECT_EQ(reflowed(page, 40),
            "One line of a paragraph.\n\n    code  as it is\n\n- an item goes on\n- another\n");
  EXPECT_EQ(reflowed(page, 0), page);
}

TEST(Wrap, ColumnsOfATableGiveWayInTheirOrder) {
  Table table(
      {{"algorithm"}, {"tile", Align::left, 2}, {"time", Align::right}, {"idea", Align::left, 3}});
  table.add({"block_tiled", "128x128x8/8x8", "300 us", "a thread owns a tile of registers"});
  EXPECT_NE(table.text().find("a tile of registers"), std::string::npos);
  for (const std::size_t columns : {30, 45, 60, 100}) {
    const std::string out = table.text(columns);
    for (const auto& line : lines_of(out)) {
      EXPECT_LE(shown_width(line), columns) << out;
    }
    EXPECT_NE(out.find("300 us"), std::string::npos);
  }
  EXPECT_NE(table.text(45).find("omitted to fit the width: idea\n"), std::string::npos);
  EXPECT_NE(table.text(30).find("omitted to fit the width:\ntile, idea\n"), std::string::npos);
}

}  // namespace
}  // namespace tessera::shell
