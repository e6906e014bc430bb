// The explanations of a compiler's errors: messages as GCC 12 and Clang 14 write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "course/program.hpp"

namespace {

using tessera::course::CompileError;
using testing::HasSubstr;

const std::string kSource =
    "using namespace tessera;\n"                                   // 1
    "struct K {\n"                                                 // 2
    "  void operator()(auto t, auto a, auto out) const {\n"        // 3
    "    const int row = t.y, col = t.x; float sum = 0;\n"         // 4
    "    if (row = 3 && col < 4) out(row, col) = a(row, col);\n"   // 5
    "    if (col <= 3) col = 4;\n"                                 // 6
    "    t.superstep(\"sum\", [=] { sum = fma(a, b, sum); });\n"   // 7
    "    a(row, col) = 1;\n"                                       // 8
    "    const float b = Mma::load_a(t, tile<16, 8>(A, 0, 0));\n"  // 9
    "    t.barrier;\n"                                             // 10
    "    copy_async(out(0), 1);\n"                                 // 11
    "  }\n"
    "};\n";

CompileError first(const std::string& said, const std::string& source = kSource) {
  const auto all = tessera::course::compile_errors(said, "p.cpp", source);
  EXPECT_EQ(all.size(), 1u);
  return all.front();
}

TEST(CompileErrors, AreSaidInPlainWordsAndWithAdvice) {
  struct Case {
    std::string said, message, cause, advice;
    int line;
  };
  const Case cases[] = {
      {"p.cpp:5:9: error: assignment of read-only variable ‘row’",
       "assignment of read-only variable ‘row’", "assignment-in-condition", "if (a == b)", 5},
      {"p.cpp:5:9: error: cannot assign to variable 'row' with const-qualified type 'const int'",
       "cannot assign to variable 'row' with const-qualified type 'const int'",
       "assignment-in-condition", "if (a == b)", 5},
      {"p.cpp:6:9: error: assignment of read-only variable ‘col’",
       "assignment of read-only variable ‘col’", "is-const",
       "leave const out there, if it is to change", 6},
      {"p.cpp:7:9: error: assignment of read-only variable ‘sum’",
       "assignment of read-only variable ‘sum’", "captured-copy", "with [&] it is the one outside",
       7},
      {"p.cpp:8:9: error: lvalue required as left operand of assignment",
       "lvalue required as left operand of assignment", "writes-input", "write to the output", 8},
      {"p.cpp:9:9: error: cannot convert ‘tessera::TensorCore<float, float>::FragmentA’ {aka "
       "‘tessera::TensorCore<float>::Fragment<float, 4>’} to ‘const float’ in initialization",
       "cannot convert ‘TensorCore::FragmentA’ to ‘const float’ in initialization", "fragment",
       "const auto a = ...", 9},
      {"p.cpp:10:3: error: invalid use of non-static member function ‘void "
       "tessera::CpuThreadBase<WarpSize>::barrier(tessera::Here) [with int WarpSize = 32]’",
       "barrier is a function: its brackets are missing", "no-brackets",
       "t.barrier(), with nothing in its brackets", 10},
      {"p.cpp:11:5: error: no matching function for call to ‘copy_async(float&, int)’",
       "copy_async() does not take these arguments", "wrong-call",
       "copy_async(t, a tile of A or B, a tile of shared memory): tile<T, T>(A, i, k), s.a.view()",
       11},
      {"p.cpp:7:3: error: ‘cout’ is not a member of ‘std’\np.cpp:1:1: note: ‘std::cout’ is defined "
       "in header ‘<iostream>’; did you forget to ‘#include <iostream>’?",
       "‘cout’ is not a member of ‘std’", "include",
       "#include <iostream> belongs at the top of the file", 7},
      {"spec.hpp:7:48: error: ‘Other’ was not declared in this scope",
       "the puzzle runs ‘Other’, and finds none in the file", "", "", 0},
  };
  for (const Case& each : cases) {
    const CompileError got = first(each.said);
    EXPECT_EQ(got.message, each.message);
    EXPECT_EQ(got.cause, each.cause) << each.message;
    EXPECT_EQ(got.advice, each.advice) << each.message;
    EXPECT_EQ(got.line, each.line) << each.message;
  }
}

TEST(CompileErrors, ANameThatIsNotDeclaredIsSaidOnce) {
  const std::string said =
      "p.cpp:9:50: error: there are no arguments to ‘A’ that depend on a template parameter, so a "
      "declaration of ‘A’ must be available [-fpermissive]\n"
      "p.cpp:9:50: note: (if you use ‘-fpermissive’, G++ will accept your code)\n"
      "p.cpp:9:51: error: ‘A’ was not declared in this scope\n";
  const CompileError got = first(said);
  EXPECT_EQ(got.message, "‘A’ was not declared in this scope");
  EXPECT_EQ(got.why, "A is not known, and a is: large and small letters are different");
  EXPECT_EQ(got.advice, "a");
  EXPECT_EQ(first("p.cpp:1:1: error: ‘Dim3’ does not name a type\n", "Dim3 b;\n").advice,
            "the library's names need 'using namespace tessera;' at the top of the file");
  EXPECT_EQ(first("p.cpp:2:1: error: ‘Dim4’ does not name a type\n").advice, "");
}

TEST(CompileErrors, ABraceWithoutItsOtherOneIsFound) {
  const std::string end = "spec.hpp:12:2: error: expected ‘;’ after struct definition\n";
  const auto brace = [&](const std::string& source) {
    const CompileError got = first(end, source);
    return std::pair(got.line, got.message);
  };
  const std::string open = "a { is never closed: is it this one?";
  EXPECT_EQ(brace("struct K {\n  void f() {\n  }\n"), std::pair(1, open));
  EXPECT_EQ(
      brace("struct K {\n  void f() {\n    for (;;) {  // }\n      g(\"}\", '}');\n  }\n};\n"),
      std::pair(3, open));
  EXPECT_EQ(brace("struct K {\n  void f() {\n    out(row; col) = 1;\n  }\n};\n"),
            std::pair(3, std::string("this ; is inside brackets")));
  EXPECT_EQ(brace("struct K {\n  void f() {\n    if (i < f(1; g(2);\n  }\n};\n"),
            std::pair(3, std::string("a ( is never closed: its ) is missing")));
  EXPECT_EQ(brace("struct K {\n};\n}\n").first, 3);
  EXPECT_EQ(brace("struct K {\n};\n"),
            std::pair(0, std::string("expected ‘;’ after struct definition")));
  EXPECT_EQ(first(end, " \n\n").message, "the file is empty");
}

TEST(CompileErrors, AFileMayHaveAnyName) {
  const auto all =
      tessera::course::compile_errors("my answer.cpp:3:1: error: what\n", "my answer.cpp", kSource);
  EXPECT_EQ(all.front().line, 3);
}

}  // namespace
