#include "bench/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape cube(index_t side) { return {side, side, side}; }

/// The message with which parse_sizes refuses the text.
std::string refusal(const std::string& text) {
  try {
    parse_sizes(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::argument) << text;
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(BenchSizes, FactorsStepsListsAndRectangles) {
  EXPECT_THAT(parse_sizes("64:512:x2"), ElementsAre(cube(64), cube(128), cube(256), cube(512)));
  EXPECT_THAT(parse_sizes("64:200:+64"), ElementsAre(cube(64), cube(128), cube(192)));
  EXPECT_THAT(parse_sizes("64,100,128"), ElementsAre(cube(64), cube(100), cube(128)));
  EXPECT_THAT(parse_sizes("16x4096x1"), ElementsAre(Shape{16, 4096, 1}));
  EXPECT_THAT(parse_sizes("7,16x3x5,8:16:x2"),
              ElementsAre(cube(7), Shape{16, 3, 5}, cube(8), cube(16)));
}

Shape transposed(Shape shape, bool a, bool b) {
  shape.a_transposed = a, shape.b_transposed = b;
  return shape;
}

TEST(BenchSizes, TranspositionsAndBatches) {
  EXPECT_THAT(
      parse_sizes("8-TN,2x3x4-NT,8:16:x2-TT,5-NN"),
      ElementsAre(transposed(cube(8), true, false), transposed({2, 3, 4}, false, true),
                  transposed(cube(8), true, true), transposed(cube(16), true, true), cube(5)));
  EXPECT_THAT(parse_sizes("1000x8x8x8,10x2x3x4-TN"),
              ElementsAre(Shape{8, 8, 8, 1000}, transposed({2, 3, 4, 10}, true, false)));
  EXPECT_EQ(full_text({8, 8, 8}), "8x8x8");
}

TEST(BenchSizes, Updates) {
  Shape update = cube(8), turned = transposed({4, 5, 6}, true, false);
  update.updates = turned.updates = true;
  EXPECT_THAT(parse_sizes("8-update,8,4x5x6-TN-update"), ElementsAre(update, cube(8), turned));
  for (const Shape& each : {update, turned})
    EXPECT_THAT(parse_sizes(to_string(each)), ElementsAre(each));
  EXPECT_THROW(parse_sizes("8-update-TN"), Error);
  for (const Shape& each : suite_shapes("update")) EXPECT_TRUE(each.updates);
}

TEST(BenchSizes, SuitesAreListsWithNames) {
  EXPECT_EQ(suite_shapes("square").size(), 13u);
  EXPECT_THAT(suite_shapes("tiny"), ElementsAre(cube(4), cube(8), cube(16), cube(32)));
  EXPECT_EQ(suite_shapes("odd,transposed").size(), 6u) << "1024 is in both, and measured once";
  std::size_t most = 0;
  for (const auto& name : suite_names()) most += suite_shapes(name).size();
  EXPECT_LT(suite_shapes("all").size(), most / 2 + 1);
  try {
    suite_shapes("squares");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'square'?"));
  }
  EXPECT_THROW(suite_shapes(""), Error);
}

TEST(BenchSizes, TypesReadBack) {
  for (const char* text : {"f32", "bf16:f32", "i8:i32", "u8:i8:i32"})
    EXPECT_EQ(to_string(shell::parse_types(text)), text);
  EXPECT_EQ(to_string(shell::parse_types("f32:f32")), "f32");
  EXPECT_EQ(to_string(shell::parse_types("i8:i8:i32")), "i8:i32");
  for (const char* text : {"", ":", "f32:", "f32:f99", "f32::f32", "f32:f32:f32:f32"})
    EXPECT_THROW(shell::parse_types(text), Error) << text;
  EXPECT_THROW(shell::require_product({DType::i8, DType::i8}), Error);
  EXPECT_NO_THROW(shell::require_product({DType::bf16, DType::f32}));
  EXPECT_NO_THROW(shell::require_product(shell::parse_types("i8:u8:f32")));
  EXPECT_THROW(shell::require_product(shell::parse_types("f32:i8:f32")), Error);
  EXPECT_THROW(shell::require_product(shell::parse_types("f16:bf16:f32")), Error);
}

TEST(BenchSizes, SmallProductsHaveManySetsOfOperands) {
  EXPECT_EQ((BenchCase{{}, cube(32)}.sets()), 50);
  EXPECT_EQ((BenchCase{{}, cube(64)}.sets()), 1);
  EXPECT_EQ((BenchCase{{}, {8, 8, 8, 1000}}.sets()), 1);
  EXPECT_EQ((BenchCase{{}, {8, 8, 8, 1000}}.products()), 1000);
  EXPECT_EQ((BenchCase{{}, {8, 8, 8, 1000}}.flops()), 2.0 * 8 * 8 * 8 * 1000);
}

TEST(BenchSizes, TheLastBelongsToTheRangeOnlyIfAStepMeetsIt) {
  EXPECT_THAT(parse_extents("3:12:x2"), ElementsAre(3, 6, 12));
  EXPECT_THAT(parse_extents("3:13:x2"), ElementsAre(3, 6, 12));
  EXPECT_THAT(parse_extents("5:5:+1"), ElementsAre(5));
}

TEST(BenchSizes, EachSizeOnce) { EXPECT_THAT(parse_extents("8,8,4:8:x2"), ElementsAre(8, 4)); }

TEST(BenchSizes, RefusalsQuoteThePartAndSayWhatIsAllowed) {
  EXPECT_THAT(refusal("64,abc"), HasSubstr("'abc'"));
  EXPECT_THAT(refusal("64,abc"), HasSubstr("64:1024:x2"));
  EXPECT_THAT(refusal(""), HasSubstr("the list is empty"));
  EXPECT_THAT(refusal("64,"), HasSubstr("missing"));
  EXPECT_THAT(refusal("0"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("-3"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("1:2"), HasSubstr("three fields"));
  EXPECT_THAT(refusal("64:32:x2"), HasSubstr("before it begins"));
  EXPECT_THAT(refusal("1:8:x1"), HasSubstr("at least 2"));
  EXPECT_THAT(refusal("1:8:+0"), HasSubstr("a step is at least 1, not 0"));
  EXPECT_THAT(refusal("1:8:x0"), HasSubstr("a factor is at least 2"));
  EXPECT_THAT(refusal("1:8:2"), HasSubstr("x2"));
  EXPECT_THAT(refusal("2x3"), HasSubstr("MxNxK"));
  EXPECT_THAT(refusal("99999999999999999999"), HasSubstr("larger than"));
  EXPECT_THAT(refusal("1:1000000:+1"), HasSubstr("more than 1000"));
  EXPECT_THAT(refusal("1 "), HasSubstr("not a whole number"));
  for (const char* text : {"64-XX", "64-", "64-tn", "2x3x4-N", "8:16:x2-TNT", "8-TN-NT"})
    EXPECT_THAT(refusal(text), HasSubstr("' is none of the suffixes -NN, -NT, -TN and -TT"));
  EXPECT_THAT(refusal("2x-3x4"), HasSubstr("at least 1"));
}

TEST(BenchSizes, CombinationsChangeMSlowest) {
  EXPECT_THAT(all_combinations({1, 2}, {3}, {4, 5}),
              ElementsAre(Shape{1, 3, 4}, Shape{1, 3, 5}, Shape{2, 3, 4}, Shape{2, 3, 5}));
  const std::vector<index_t> many = parse_extents("1:100:+1");
  EXPECT_THROW(all_combinations(many, many, many), Error);
}

TEST(BenchSizes, TextReadsBack) {
  for (const Shape& each : {cube(64), Shape{1, 2, 3}, Shape{4, 4, 5}, Shape{4, 4, 4, 9},
                            transposed(cube(7), true, false), transposed({1, 2, 3, 4}, true, true)})
    EXPECT_THAT(parse_sizes(to_string(each)), ElementsAre(each));
}

RC_GTEST_PROP(BenchSizes, RangesAreWhatALoopGives, ()) {
  const auto first = *rc::gen::inRange<index_t>(1, 2000);
  const auto last = first + *rc::gen::inRange<index_t>(0, 5000);
  const auto by = *rc::gen::inRange<index_t>(8, 100);
  const bool times = *rc::gen::arbitrary<bool>();
  std::vector<index_t> expected;
  for (index_t at = first; at <= last; at = times ? at * by : at + by) expected.push_back(at);
  RC_ASSERT(parse_extents(cat(first, ":", last, times ? ":x" : ":+", by)) == expected);
}

/// Any text gives sizes that are all possible, or one clear refusal.
void survives(const std::string& text) {
  try {
    for (const Shape& each : parse_sizes(text))
      RC_ASSERT(std::min({each.M, each.N, each.K, each.batch}) >= 1 && each.M <= index_t{1} << 20);
  } catch (const Error& error) {
    RC_ASSERT(error.category() == Category::argument);
    RC_ASSERT(std::string(error.what()).find("write ") != std::string::npos ||
              std::string(error.what()).find("too many") != std::string::npos);
  }
}

RC_GTEST_PROP(BenchSizes, AnyTextIsReadOrRefused, ()) {
  survives(*rc::gen::arbitrary<std::string>());
}

RC_GTEST_PROP(BenchSizes, AnyTextOfItsOwnSignsIsReadOrRefused, ()) {
  survives(*rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789x:+,-NT"))));
}

}  // namespace
}  // namespace tessera::bench
