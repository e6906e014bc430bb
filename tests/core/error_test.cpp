#include "tessera/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tessera/core/text.hpp"

namespace tessera {
namespace {

struct Named {
  friend std::string to_string(const Named&) { return "named"; }
};

TEST(Text, JoinsNumbersAndStrings) {
  EXPECT_EQ(cat("a", 1, ' ', -2L, std::string("b"), true, false), "a1 -2btruefalse");
  EXPECT_EQ(cat(), "");
  EXPECT_EQ(cat(Named{}), "named");
}

TEST(Text, FloatsKeepNineDigits) {
  EXPECT_EQ(cat(0.5), "0.5");
  EXPECT_EQ(cat(1.0f / 3), "0.333333343");
  EXPECT_EQ(cat(1e300), "1e+300");
}

TEST(Error, SaysWhatExpectedGotAndDo) {
  const Error error(Category::shape, "multiply: shapes differ", "64 rows", "32",
                    "transpose B first");
  EXPECT_STREQ(error.what(),
               "multiply: shapes differ: expected 64 rows, got 32; transpose B first");
  EXPECT_EQ(error.problem(), "multiply: shapes differ");
  EXPECT_EQ(error.expected(), "64 rows");
  EXPECT_EQ(error.got(), "32");
  EXPECT_EQ(error.advice(), "transpose B first");
}

TEST(Error, LeavesOutWhatIsNotSaid) {
  EXPECT_STREQ(Error(Category::file, "no").what(), "no");
  EXPECT_STREQ(Error(Category::file, "no", {}, "x").what(), "no: got x");
  EXPECT_STREQ(Error(Category::file, "no", "y").what(), "no: expected y");
  EXPECT_STREQ(Error(Category::file, "no", {}, {}, "do").what(), "no; do");
}

TEST(Error, CategoriesHaveExitCodes) {
  EXPECT_EQ(exit_code(Category::argument), 2);
  EXPECT_EQ(exit_code(Category::shape), 2);
  EXPECT_EQ(exit_code(Category::type), 2);
  EXPECT_EQ(exit_code(Category::file), 3);
  EXPECT_EQ(exit_code(Category::unavailable), 4);
  EXPECT_EQ(exit_code(Category::resource), 1);
  EXPECT_EQ(exit_code(Category::kernel), 1);
  EXPECT_EQ(exit_code(Category::failed), 1);
}

}  // namespace
}  // namespace tessera
