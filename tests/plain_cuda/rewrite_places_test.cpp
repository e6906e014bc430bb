// For any text: tokens keep their positions, white space changes nothing, time is linear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "plain_cuda/rewrite.hpp"
#include "rewritten.hpp"
#include "tessera/core/error.hpp"

namespace tessera::plain_cuda {
namespace {

using ::testing::HasSubstr;

using Placed = std::tuple<std::string, int, int, std::string>;

/// Of all tokens but the words and marks that go: file, line, column, spelling.
std::multiset<Placed> placed(std::string_view text) {
  static const std::set<std::string_view> gone = {
      "__global__", "__shared__", "__launch_bounds__", "__grid_constant__", "extern", "asm"};
  const Tokens t = tokens_of(text);
  std::multiset<Placed> out;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const bool is_angle = t.is(i, "<") || t.is(i, ">") || t.is(i, ":") || t.is(i, ",");
    const bool is_of_bounds = t.is(i - 1, "__launch_bounds__") || t.is(i - 3, "__launch_bounds__");
    if (is_angle || is_of_bounds || gone.count(t.spelling(i)) > 0) continue;
    out.insert({t.file(i).name, t[i].line, t[i].column, std::string(t.spelling(i))});
  }
  return out;
}

class Pieces {
 public:
  explicit Pieces(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }
  template <std::size_t N>
  std::string one_of(const char* const (&texts)[N]) {
    return texts[below(N)];
  }
  /// White space, comments and directives, with a line marker at times.
  std::string gap() {
    static const char* const kGaps[] = {" ",
                                        "  ",
                                        "\n",
                                        "\t",
                                        " /* ) K<<< { */ ",
                                        " // \" ( <<<\n",
                                        "\n#pragma unroll ( \" {\n",
                                        "\n\n   ",
                                        "\n# 40 \"other.cuh\" 1\n ",
                                        "\n# 3 \"k.cu\" 2\n"};
    return one_of(kGaps);
  }
  /// A program of statements; `gaps` puts something between all tokens.
  std::string program(bool gaps) {
    static const char* const kStatements[] = {"x = y + 1'000 ;",
                                              "if ( a ) K<<<g, b>>>(x) ;",
                                              "n :: K < T , 3 > <<< f(1), {2} >>> ( x ) ;",
                                              "__shared__ float s [ 3 ] ;",
                                              "__shared__ alignas ( 8 ) float s [ 3 ] ;",
                                              "extern __shared__ T d [ ] ;",
                                              "s = \"<<<\" \"(\" ;",
                                              "auto r = R\"(a\n{ <<<)\" ;",
                                              "asm ( \"m %0;\" : \"=r\" ( x ) : \"r\" ( y ) ) ;",
                                              "for ( ; ; ) { c = '{' ; }",
                                              "p -> q <<< 1 , L <<< 2 , 3 >>> ( z ) >>> ( w ) ;"};
    std::string out =
        kMarker + "template < class T > __launch_bounds__ ( 8 ) __global__ void K ( T x ) { ";
    for (int i = 0; i < 8; ++i) out += one_of(kStatements) + " ";
    out += "} ";
    return gaps ? spaced(out) : out;
  }

 private:
  std::string spaced(const std::string& text) {
    const Tokens t = tokens_of(text);
    std::string out = kMarker;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const bool is_adjacent = i > 0 && t[i - 1].end == t[i].begin;
      if (!is_adjacent || (!t.is(i, "<") && !t.is(i, ">") && !t.is(i, ":"))) out += gap();
      out += t.spelling(i);
    }
    return out;
  }
  std::mt19937 random_;
};

TEST(RewritePlaces, EveryTokenKeepsItsFileLineAndColumn) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string before = Pieces(seed).program(true), after = rewrite(before);
    const auto wanted = placed(before), got = placed(after);
    std::vector<Placed> missing;
    std::set_difference(wanted.begin(), wanted.end(), got.begin(), got.end(),
                        std::back_inserter(missing));
    for (const auto& [file, line, column, spelling] : missing)
      ADD_FAILURE() << spelling << " at " << file << ":" << line << ":" << column;
    if (!missing.empty()) FAIL() << before << "\n----\n" << after;
  }
}

TEST(RewritePlaces, WhiteSpaceCommentsAndMarkersChangeNothing) {
  const auto without_places = [](std::string text) {
    for (std::size_t at; (at = text.find("Place{")) != text.npos;)
      text.erase(at, text.find('}', at) + 1 - at);
    return text;
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    // The same seed chooses the same statements.
    const std::string spaced = rewrite(Pieces(seed).program(true));
    const std::string dense = rewrite(Pieces(seed).program(false));
    ASSERT_EQ(without_places(plain(spaced)), without_places(plain(dense))) << "seed " << seed;
  }
}

TEST(RewritePlaces, DirectivesStay) {
  const std::string text = kMarker +
                           "__global__ void K() {\n#pragma unroll\n  for (;;) ;\n#pragma omp\n"
                           "  L<<<1, 2>>>();\n}\n";
  EXPECT_THAT(rewrite(text), HasSubstr("{\n#pragma unroll\n  for (;;) ;\n#pragma omp\n  ("));
}

TEST(RewritePlaces, AnyTextIsRewrittenOrRefused) {
  static const char* const kFragments[] = {"<",
                                           "<<<",
                                           ">>>",
                                           ">",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           "{",
                                           "}",
                                           ";",
                                           ",",
                                           ":",
                                           "::",
                                           ".",
                                           "->",
                                           "K",
                                           "__global__",
                                           "__shared__",
                                           "__launch_bounds__",
                                           "__cluster_dims__",
                                           "extern",
                                           "static",
                                           "asm",
                                           "template",
                                           "\"",
                                           "'",
                                           "R\"(",
                                           ")\"",
                                           "/*",
                                           "*/",
                                           "//",
                                           "\n",
                                           "\\\n",
                                           "#",
                                           "# 3 \"a\"\n",
                                           "1",
                                           " ",
                                           "operator",
                                           "namespace",
                                           "return",
                                           "if",
                                           "\"x\"",
                                           "=",
                                           "volatile",
                                           "\xff",
                                           "1'"};
  for (unsigned seed = 0; seed < 20000; ++seed) {
    Pieces pieces(seed);
    std::string text;
    for (std::size_t i = pieces.below(24); i-- > 0;) text += pieces.one_of(kFragments);
    try {
      rewrite(text, [&](const std::string&) { return &text; });
    } catch (const Error& error) {
      ASSERT_EQ(error.category(), Category::argument) << text;
    }
  }
}

TEST(RewritePlaces, LargeTextsTakeLinearTime) {
  const auto begin = std::chrono::steady_clock::now();
  const auto run = [](const std::string& first, const std::string& repeated,
                      const std::string& last) {
    std::string text = kMarker + first;
    while (text.size() < 200'000) text += repeated;
    text += last;
    try {
      rewrite(text, [&](const std::string&) { return &text; });
    } catch (const Error&) {
    }
  };
  for (const char* each : {"<",
                           "<<<",
                           ">",
                           "(",
                           "[{(",
                           "K<",
                           "K<<<1,2>>>(",
                           "K<<<",
                           "__global__ ",
                           "__shared__ ",
                           "__global__ void K() {",
                           "extern __shared__ int x[],",
                           "a.",
                           "f()",
                           "x><<<1>>>(1) ",
                           "asm(",
                           "a::",
                           "\"",
                           "R\"(",
                           "/*",
                           "#",
                           "# 1 \"a\"\n",
                           "K<a><<<1,2>>>(x);",
                           "namespace a::"})
    run("", each, "");
  run("void f() { ", "K<<<1, 2>>>(x);\n", "}");
  run("void f() { ", "K<<<1, 2>>>(x); ", "}");
  run("void f() { ", "__shared__ int x; ", "}");
  run("", "a ", "{ asm(\"x\"); asm(\"y\"); }");
  run("K<", "a,", "><<<1, 2>>>(x);");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace tessera::plain_cuda
