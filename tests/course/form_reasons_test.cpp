// Lines that are not valid C++ or not the course's form, each with GCC 12's message: the
// explanation, and that similar valid lines get none.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "course/program.hpp"

namespace {

using tessera::course::CompileError;

/// The first error of a kernel whose 11th line is `line`.
CompileError told(const std::string& line, const std::string& message) {
  const std::string source =
      "using namespace tessera;\n"
      "struct K {\n"
      "  static constexpr const char* name = \"k\";\n"
      "  static constexpr Dim3 block{8};\n"
      "  struct Shared { Tile<float, 8, 8> a, tile; };\n"
      "  TESSERA_KERNEL void operator()(auto t, auto A, auto C) const {\n"
      "    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;\n"
      "    auto& s = shared<Shared>(t);\n"
      "    const int row = t.thread.y, col = t.thread.x, n = 8;\n"
      "    float sum = 0, score[8] = {}, both[4][4] = {};\n" +
      line +
      "\n"
      "  }\n"
      "};\n";
  return tessera::course::compile_errors("p.cpp:11:5: error: " + message, "p.cpp", source).front();
}

struct Case {
  std::string line, message, cause, advice;
};

const std::string kPrimary = "expected primary-expression before ‘=’ token";
const std::string kWhole =
    "no match for ‘operator=’ (operand types are ‘tessera::Tensor<float*>’ and ‘float’)";
const Case kCases[] = {
    {"if (row === 3) C(row, col) = 1;", kPrimary, "sign", "=="},
    {"for (int k := 0; k < n; ++k) sum += 1;", kPrimary, "sign", "name = value"},
    {"sum = A(row) @ C(col);", "stray ‘@’ in program", "sign",
     "a loop over k: sum = fma(A(row, k), B(k, col), sum)"},
    {"sum = e ** (sum - 1);", "‘e’ was not declared in this scope", "power", "std::exp(x)"},
    {"if (row < n) && (col < n) C(row, col) = 1;", "expected identifier before ‘(’ token",
     "condition", "one pair of brackets around all of it: if (... && ...)"},
    {"if (row < n) then C(row, col) = 1;", "‘then’ was not declared in this scope", "then",
     "leave then out"},
    {"Shared.a(row, col) = 1;", "expected unqualified-id before ‘.’ token", "type-as-object",
     "s.a"},
    {"shared.a(row, col) = 1;", "overloaded function with no contextual type information",
     "type-as-object", "s.a"},
    {"const auto x = Mma.load_a(t, A);", "expected primary-expression before ‘.’ token",
     "type-as-object", "Mma::load_a"},
    {"sum = s->a(row, col);",
     "base operand of ‘->’ has non-pointer type ‘tessera::detail::Placed<K::Shared>’", "dot",
     "s.a"},
    {"t.commit();", "‘class tessera::CpuThread<>’ has no member named ‘commit’", "no-such-member",
     "commit(t)"},
    {"t.wait<0>();", "expected primary-expression before ‘)’ token", "no-such-member",
     "wait<0>(t)"},
    {"const int i = t.block.x();", "expression cannot be used as a function", "not-a-function",
     "t.block.x, without brackets"},
    {"C(row, col).atomic_add(sum);", "‘class tessera::Recorded<float>’ has no member named ‘at’",
     "member-of-thread", "t.atomic_add(C(row, col), value)"},
    {"C.at(row, col) = 1;", "no match", "round-brackets", "C(row, col)"},
    {"sum = s.a{row, col};", "expected ‘;’ before ‘{’ token", "round-brackets", "s.a(row, col)"},
    {"Tile<float>(32, 33) x;", "expected unqualified-id before numeric constant", "tile-type",
     "Tile<float, 32, 33> name;"},
    {"constexpr Layout x(tuple(3, 5), [5, 1]);", "expected identifier before numeric constant",
     "tuple", "tuple(5, 1)"},
    {"float[4] a;", "structured binding declaration cannot have type ‘float’", "array-form",
     "float a[4];"},
    {"x[4], y[4];", "‘x’ was not declared in this scope", "no-type", "float x[4];"},
    {"const flops = 2 * n;", "‘flops’ does not name a type", "no-type",
     "const float flops = ...; or int"},
    {"sum = 2(n + 1);", "expression cannot be used as a function", "operator-missing",
     "an operator like *, or a comma"},
    {"t.superstep(load, [&] { sum = 1; });", "‘load’ was not declared in this scope", "text",
     "\"load\""},
    {"sum = 2 * n³;", "‘n³’ was not declared in this scope", "letter", "x * x * x"},
    {"for (int y : t.thread.y) sum += y;", "‘begin’ was not declared in this scope", "for-header",
     "for (int y = 0; y < n; ++y)"},
    {"C = A(row, col);", kWhole, "whole-tensor",
     "C(...), with the indices of the element in the brackets"},
    {"s.a = A(row, col);", kWhole, "whole-tensor",
     "s.a(...), with the indices of the element in the brackets"},
    {"sum = std::exp(score - sum);",
     "invalid operands of types ‘float [8]’ and ‘float’ to binary ‘operator-’", "whole-array",
     "score[i]"},
    {"both[row] = fma(sum, sum, both[row]);",
     "incompatible types in assignment of ‘float’ to ‘float [4]’", "whole-array",
     "as many indices as in its declaration: name[i][j]"},
    {"return A(row, col);",
     "return-statement with a value, in function returning ‘void’ [-fpermissive]", "stores",
     "out(i) = ...; without return"},
    {"float x[4] = 0;", "array must be initialized with a brace-enclosed initializer",
     "array-values", "float sum[n] = {};"},
    {"tile(row, col) = 1;", "no matching function for call to ‘tile(const int&, const int&)’",
     "member-of-shared", "s.tile"},
    {"const int i = t.block.x n + 1;", "expected ‘,’ or ‘;’ before ‘n’", "operator-missing",
     "a comma, an operator like *, or a ;"},
    {"C<row> = 1;", "expected primary-expression before ‘=’ token", "round-brackets", "C(row)"},
    {"if (row < n): C(row, col) = 1;", "expected primary-expression before ‘:’ token", "python",
     "if (...) { ... }"},
    {"const int i == 3;", "expected initializer before ‘==’ token", "sign", "="},
    {"wait<0>;", "statement cannot resolve address of overloaded function", "no-brackets",
     "wait<0>(t)"},
    {"s.b(row, col) = 1;", "‘struct tessera::detail::Placed<K::Shared>’ has no member named ‘b’",
     "no-such-member", "it has a, tile"},
    {"sum = score[] - 1;", "expected primary-expression before ‘]’ token", "index", "name[i]"},
    {"sum = Math.min(sum, 1);", "‘Math’ was not declared in this scope", "foreign-name",
     "std::min(a, b)"},
    {"tile<float, 3, 3> x;", "‘tile<float, 3, 3>’ does not name a type", "other-case",
     "Tile<float, rows, columns> name;"},
    {"auto mine = tile<8, 8>(C, 0, 0); mine = sum;", kWhole, "whole-tensor",
     "mine(...), with the indices of the element in the brackets"},
    {"for (integer k = 0; k < n; ++k) sum += 1;", "‘integer’ was not declared in this scope",
     "foreign-name", "int"},
};

TEST(FormReasons, SayWhatTheOtherFormIsHere) {
  for (const Case& each : kCases) {
    const CompileError got = told(each.line, each.message);
    EXPECT_EQ(got.cause, each.cause) << each.line << "\n" << got.why;
    EXPECT_EQ(got.advice, each.advice) << each.line;
    EXPECT_EQ(got.line, 11) << each.line;
  }
}

TEST(FormReasons, OfRightFormsNothingIsSaid) {
  const char* lines[] = {
      "if ((row < n) && (col < n)) C(row, col) = x * *p;",
      "const auto mine = [&, n] { return s.a(row, n); };",
      "auto [x, y] = t.thread;",
      "while (row < n) do_it();",
      "const float x = score[2] * (n + 1) - both[1][2];",
      "Tile<float, 8, 8> mine{};",
      "t.superstep(\"load\", [&] { copy(t, tile<8, 8>(A, 0, 0), s.a.view()); });",
      "sum = row == 3 ? A(row, col) : 0.5f;",
      "for (const float each : score) sum += each;",
  };
  for (const char* line : lines)
    EXPECT_EQ(told(line, "something that nobody has seen before").cause, "") << line;
}

}  // namespace
