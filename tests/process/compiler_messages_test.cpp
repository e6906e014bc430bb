// A compiler's messages, reduced to the user's own lines.
#include "process/compiler_messages.hpp"

#include <gtest/gtest.h>

namespace tessera::process {
namespace {

constexpr const char* kLayout =
    "tessera::Layout{tessera::IntTuple{tessera::Leaves{-9223372036854775807, 0, 0}, 2, 1, 16}}";

TEST(CompilerMessages, KeepErrorsAndTheLinesOfTheFile) {
  const std::string said =
      "mine.cpp:20:43:   required from here\n"
      "mine.cpp:12:23: error: no matching function for call to 'size<0>(A&)'\n"
      "   12 |     if (row >= size<0>(C)) return {};\n"
      "      |                ~~~~~~~^~~\n"
      "/usr/include/tessera/ops/copy.hpp:9:1: error: static assertion failed\n";
  EXPECT_EQ(readable_messages(said, "mine.cpp"), said);
}

TEST(CompilerMessages, LeaveOutTheWayThroughTheLibrary) {
  EXPECT_EQ(readable_messages(
                "/usr/include/tessera/ops/copy.hpp: In instantiation of 'void copy()':\n"
                "/usr/include/tessera/simt/launch.hpp:120:49:   required from 'void call()'\n"
                "mine.cpp: In instantiation of 'void Mine::operator()()':\n"
                "mine.cpp:20:43:   required from here\n",
                "mine.cpp"),
            "mine.cpp: In instantiation of 'void Mine::operator()()':\n"
            "mine.cpp:20:43:   required from here\n");
}

TEST(CompilerMessages, ShortenValuesOfLayoutsAndNothingElse) {
  EXPECT_EQ(
      readable_messages("mine.cpp:3:5: error: no match for call to 'tessera::Tensor<float*, " +
                            std::string(kLayout) + ", tessera::Whole>'\n",
                        "mine.cpp"),
      "mine.cpp:3:5: error: no match for call to 'tessera::Tensor<float*, "
      "tessera::Layout{...}, tessera::Whole>'\n");
  const std::string tile =
      "mine.cpp:3:5: error: in tessera::CpuThread<tessera::Dim3{16, 16, 1}, 32>\n"
      "    5 |   static constexpr tessera::Dim3 numbers[] = x{ 16, 16, 16, 16, 16, 16};\n";
  EXPECT_EQ(readable_messages(tile, "mine.cpp"), tile);
  const std::string open = "mine.cpp:3:5: error: tessera::Layout{ is never closed and long\n";
  EXPECT_EQ(readable_messages(open, "mine.cpp"), open);
}

TEST(CompilerMessages, SayOfTemplatesTheirNames) {
  EXPECT_EQ(
      in_plain_words("no match for 'operator[]' (operand types are 'tessera::Tensor<float*, " +
                     std::string(kLayout) + ", tessera::Whole>' and 'const int')"),
      "no match for 'operator[]' (operand types are 'Tensor' and 'const int')");
  EXPECT_EQ(in_plain_words("no matching function for call to "
                           "'tessera::TensorCore<float>::mma(tessera::CpuThread<"
                           "tessera::Dim3{32, 1, 1}, 32>&, int) const'"),
            "mma() does not take these arguments");
  EXPECT_EQ(in_plain_words("no matching function for call to 'mma'"),  // as Clang says it
            "mma() does not take these arguments");
  EXPECT_EQ(in_plain_words("tessera::operator<(a, b) is < c"), "operator<(a, b) is < c");
}

}  // namespace
}  // namespace tessera::process
