// CUDA's words become C++: before and after, and every token of the user's in its place.
#include "plain_cuda/rewrite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "plain_cuda/lexer.hpp"
#include "support/refusal.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

const std::string kMarker = "# 1 \"k.cu\"\n";

/// Tokens with one blank between them where that changes nothing; the room's name is left out.
std::string plain(std::string text) {
  const std::string room = "::tessera::plain_cuda::";
  for (std::size_t at; (at = text.find(room)) != text.npos;) text.erase(at, room.size());
  const Tokens tokens = tokens_of(text);
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_mark = tokens.is_kind(i, Token::Kind::mark);
    const bool was_mark = tokens.is_kind(i - 1, Token::Kind::mark);
    if (i > 0 && !is_mark && !was_mark) out += ' ';
    out += tokens.spelling(i);
  }
  return out;
}

/// What `text` becomes, from column 1 of line 1 of k.cu; places are @line:column.
std::string rewritten(std::string_view text) {
  std::string out = plain(rewrite(kMarker + std::string(text)));
  const std::string begin = "Place{\"k.cu\",";
  for (std::size_t at; (at = out.find(begin)) != out.npos;) {
    const auto end = out.find('}', at);
    std::string place = out.substr(at + begin.size(), end - at - begin.size());
    std::replace(place.begin(), place.end(), ',', ':');
    out.replace(at, end + 1 - at, "@" + place);
  }
  return out;
}

struct Case {
  const char *before, *after;
};
void expect_each(std::initializer_list<Case> cases) {
  for (const Case& each : cases)
    EXPECT_EQ(rewritten(each.before), plain(each.after)) << each.before;
}

constexpr const char* kRun = "run_kernel(__func__, launch_bounds(), [=]() mutable -> void {";

TEST(Rewrite, AKernelsBodyBecomesAClosure) {
  const std::string run = kRun;
  for (const auto& [head, bare] : std::initializer_list<std::pair<std::string, std::string>>{
           {"__global__ void K(int* x)", "void K(int* x)"},
           {"static __global__ void K(int* x)", "static void K(int* x)"},
           {"__global__ static inline void K()", "static inline void K()"},
           {"extern \"C\" __global__ void K()", "extern \"C\" void K()"},
           {"template <class T, int N = 3> __global__ void K(T x)",
            "template <class T, int N = 3> void K(T x)"},
           {"template <> __global__ void K<float>(float x)", "template <> void K<float>(float x)"},
           {"template <> __global__ void K<S{16}>(S x = {1})",
            "template <> void K<S{16}>(S x = {1})"},
           {"__attribute__((used)) __global__ __attribute__((noinline)) void K(P p = P{})",
            "__attribute__((used)) __attribute__((noinline)) void K(P p = P{})"},
           {"[[maybe_unused]] __global__ void K(void (*f)(int) = [](int) { ; }) noexcept",
            "[[maybe_unused]] void K(void (*f)(int) = [](int) { ; }) noexcept"},
           {"__global__ auto K(const __grid_constant__ P p) -> void", "auto K(const P p) -> void"}})
    EXPECT_EQ(rewritten(head + " { if (a) { b(); } }"),
              plain(bare + " {" + run + " if (a) { b(); } });}"))
        << head;
}

TEST(Rewrite, BoundsOfALaunchStandAnywhereInTheDeclaration) {
  for (const char* head : {"__global__ void __launch_bounds__(32 * 8, f(1)) K(int x)",
                           "__global__ __launch_bounds__(32 * 8, f(1)) void K(int x)",
                           "__launch_bounds__(32 * 8, f(1)) __global__ void K(int x)",
                           "__global__ void K(int x) __launch_bounds__(32 * 8, f(1))"})
    EXPECT_EQ(rewritten(cat("int a; ", head, "{ x; }")),
              plain("int a; void K(int x) {run_kernel(__func__, launch_bounds(32 * 8, f(1)), "
                    "[=]() mutable -> void { x; });}"))
        << head;
  expect_each({{"__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(N) K() {}",
                "void K() {run_kernel(__func__, launch_bounds(N), cluster_dims(2, 1, 1), "
                "[=]() mutable -> void {});}"},
               {"__global__ void __launch_bounds__(7) A() {} __global__ void B() {}",
                "void A() {run_kernel(__func__, launch_bounds(7), [=]() mutable -> void {});}"
                "void B() {run_kernel(__func__, launch_bounds(), [=]() mutable -> void {});}"}});
}

TEST(Rewrite, DeclarationsKeepNoBody) {
  expect_each({{"__global__ void K(int x = f({1}));", "void K(int x = f({1}));"},
               {"struct S { friend __global__ void K(S); };", "struct S { friend void K(S); };"},
               {"template __global__ void K<3>(int*);", "template void K<3>(int*);"},
               {"extern template __global__ void K<int>(int); namespace a { }",
                "extern template void K<int>(int); namespace a { }"},
               {"__global__ void __launch_bounds__(8) K();", "void K();"}});
}

TEST(Rewrite, ALaunchConfiguresAndCalls) {
  expect_each({
      {"K<<<1, 2>>>(x);", "(configure(@1:1, 1, 2), K(x));"},
      {"if (a) K<<<g, b, s, t>>>(); else n::K<int><<<g, b>>>(x);",
       "if (a) (configure(@1:8, g, b, s, t), K()); else (configure(@1:34, g, b), n::K<int>(x));"},
      {"return ::K <<< dim3(1, 2), {3, 4} >>> (x, {y});",
       "return (configure(@1:8, dim3(1, 2), {3, 4}), ::K(x, {y}));"},
      {"K<A<B>><<<g, b>>>(x)", "(configure(@1:1, g, b), K<A<B>>(x))"},
      {"K<A<B<C>>><<<g, b>>>(x)", "(configure(@1:1, g, b), K<A<B<C>>>(x))"},
      {"K<(a>b), (1>>2)><<<g, b>>>(x)", "(configure(@1:1, g, b), K<(a>b), (1>>2)>(x))"},
      {"K<1 << 4><<<g, b>>>(x)", "(configure(@1:1, g, b), K<1 << 4>(x))"},
      {"K<a < 3><<<g, b>>>(x)", "(configure(@1:1, g, b), K<a < 3>(x))"},
      {"f->g.template K<p->q><<<g, b>>>(x)", "(configure(@1:1, g, b), f->g.template K<p->q>(x))"},
      {"a ? K<<<g, b>>>(x) : (void)L<<<g, b>>>(y)",
       "a ? (configure(@1:5, g, b), K(x)) : (void)(configure(@1:28, g, b), L(y))"},
      {"kernels[i](0)<<<g, b>>>(x)", "(configure(@1:1, g, b), kernels[i](0)(x))"},
      {"if (a) (k)<<<g, b>>>(x)", "if (a) (configure(@1:8, g, b), (k)(x))"},
      {"x = (*k)<<<g, b>>>(x)", "x = (configure(@1:5, g, b), (*k)(x))"},
      {"K<<<(a >> 2) >> 1, b<c>>>>(x)", "(configure(@1:1, (a >> 2) >> 1, b<c>), K(x))"},
      {"K<<<f([] { L<<<1, 2>>>(3); }), 4>>>(M<<<5, 6>>>(7))",
       "(configure(@1:1, f([] { (configure(@1:12, 1, 2), L(3)); }), 4), "
       "K((configure(@1:37, 5, 6), M(7))))"},
      {"x << <y; s << \"<<<\" << '<'; a <<= 3; operator<<<int>(x);",
       "x << <y; s << \"<<<\" << '<'; a <<= 3; operator<<<int>(x);"},
  });
}

TEST(Rewrite, SharedVariablesAreThreadLocal) {
  expect_each({{"__shared__ float x[4][5], y;", "static thread_local float x[4][5], y;"},
               {"static __shared__ int x;", "static thread_local int x;"},
               {"__shared__ static int x;", "thread_local static int x;"},
               {"volatile __shared__ float x[3];", "volatile static thread_local float x[3];"},
               {"__shared__ struct { int a; } s;", "static thread_local struct { int a; } s;"},
               {"case 1: __shared__ P<a, b> s;", "case 1: static thread_local P<a, b> s;"},
               {"__shared__ alignas(16) int x[2];", "alignas(16) static thread_local int x[2];"},
               {"void f(__shared__ float* p) {}", "void f(float* p) {}"}});
}

TEST(Rewrite, DynamicSharedMemoryIsAReferenceInFunctions) {
  const std::string is = " = dynamic_shared()", aligned = " __attribute__((aligned(16)))";
  for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
           {"extern __shared__ T s[];", "T (&s)[]" + is + ";"},
           {"extern __shared__ T s[][32];", "T (&s)[][32]" + is + ";"},
           {"extern volatile __shared__ T s[];", "volatile T (&s)[]" + is + ";"},
           {"volatile extern __shared__ T s[];", "volatile T (&s)[]" + is + ";"},
           {"__shared__ extern T s[];", "T (&s)[]" + is + ";"},
           {"extern T __shared__ s[];", "T (&s)[]" + is + ";"},
           {"extern __shared__ T *s[];", "T *(&s)[]" + is + ";"},
           {"extern __shared__ T s;", "T (&s)" + is + ";"},
           {"extern __shared__ P<a, b> s[], t[];", "P<a, b> (&s)[]" + is + ", (&t)[]" + is + ";"},
           {"extern __shared__" + aligned + " char s[];", aligned + " char (&s)[]" + is + ";"},
           {"extern" + aligned + " __shared__ char s[];", aligned + " char (&s)[]" + is + ";"},
           {"extern __shared__ char s[]" + aligned + ";", "char (&s)[]" + aligned + is + ";"},
           {"extern __shared__ alignas(16) char s[];", "char (&s)[]" + is + ";"},
           {"alignas(16) extern __shared__ char s[];", "char (&s)[]" + is + ";"}})
    EXPECT_EQ(rewritten("void f() { " + before + "}"), plain("void f() { " + after + "}"));
}

TEST(Rewrite, DynamicSharedMemoryOutsideOfFunctionsIsLinked) {
  const std::string name = " __asm__(\"tessera_dynamic_shared\")";
  const std::string aligned = " __attribute__((aligned(16)))";
  for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
           {"extern __shared__ T s[];", "extern __thread T s[]" + name + ";"},
           {"extern __shared__ T s[][32], t[];",
            "extern __thread T s[][32]" + name + ", t[]" + name + ";"},
           {"__shared__ extern T s[];", "extern __thread T s[]" + name + ";"},
           {"volatile extern T __shared__ s[];", "volatile extern T __thread s[]" + name + ";"},
           {"extern __shared__" + aligned + " char s[];",
            "extern __thread" + aligned + " char s[]" + name + ";"},
           {"extern __shared__ char s[]" + aligned + ";",
            "extern __thread char s[]" + name + aligned + ";"},
           {"extern __shared__ alignas(16) char s[];",
            "alignas(16) extern __thread char s[]" + name + ";"}})
    EXPECT_EQ(rewritten("namespace a::b { " + before + "}"),
              plain("namespace a::b { " + after + "}"));
}

TEST(Rewrite, InlinePtxBecomesACall) {
  const auto inside = [](const std::string& text) { return "void f() {" + text + "}"; };
  for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
           {"asm(\"bar.sync 0;\");", "ptx(@1:11, \"bar.sync 0;\");"},
           {"asm volatile(\"a;\" \"b;\" : \"=r\"(x), \"+f\"(y[1]) : \"n\"(4) : \"memory\");",
            "ptx(@1:11, \"a;\" \"b;\", ptx_out(\"=r\", (x)), ptx_out(\"+f\", (y[1])), "
            "ptx_in(\"n\", (4)));"},
           {"__asm__ __volatile__(\"a\" :: \"r\"(x ? y : z));",
            "ptx(@1:11, \"a\", ptx_in(\"r\", (x ? y : z)));"},
           {"asm(\"%[d]\" : [d] \"=l\"(d) : [s] \"l\"(a::b) : \"cc\", \"memory\");",
            "ptx(@1:11, \"%[d]\", ptx_out(\"d\", \"=l\", (d)), ptx_in(\"s\", \"l\", (a::b)));"},
           {"asm volatile(\"fence;\" ::: \"memory\");", "ptx(@1:11, \"fence;\");"}})
    EXPECT_EQ(rewritten(inside(before)), plain(inside(after)));
  EXPECT_EQ(rewritten("void f() { if (a) asm(\"x\"); else asm(\"y\"); }"),
            plain("void f() { if (a) ptx(@1:19, \"x\"); else ptx(@1:34, \"y\"); }"));
}

TEST(Rewrite, OtherUsesOfAsmAreLeftAlone) {
  for (const char* text :
       {"int f() __asm__(\"g\");", "asm(\".global x\");", "namespace a { asm(\"x\"); }",
        "extern \"C\" { asm(\"x\"); int f(); }", "void f() { register int x asm(\"eax\"); }",
        "void f() { int g() asm(\"h\"); }"})
    EXPECT_EQ(rewritten(text), plain(text));
  const std::string header = "# 1 \"s.h\" 1 3 4\nvoid f() { asm(\"x\"); }\n# 2 \"k.cu\" 2\n";
  EXPECT_THAT(rewrite(kMarker + header), HasSubstr("asm(\"x\")"));
  // A macro of a system header has that flag in the user's file as well.
  const std::string macro = "# 1 \"k.cu\" 3 4\nasm\n# 1 \"k.cu\"\n   (\"x\");";
  EXPECT_THAT(rewrite(kMarker + "void f() {\n" + macro + "}"), HasSubstr("ptx"));
}

TEST(Rewrite, CommentsAndLiteralsAreNoCode) {
  for (const char* text :
       {"/* K<<<1, 2>>>(x) __shared__ */ int a; // __global__ void K() {\nint b;",
        "const char* s = \"K<<<1, 2>>>(x) \\\" __shared__\"; char c = '\\'';",
        "auto s = R\"x(\nK<<<1, 2>>>(x) )\" { )x\"; auto t = u8R\"(\")\"; auto u = L\"(\";",
        "int n = 1'000'000 + 0x1'f + 0xe+1 + 1e+5; char c = '{', d = u'\\x7b';",
        "#pragma omp K<<<( \nint a;"})
    EXPECT_EQ(rewrite(kMarker + text), kMarker + text);
}

TEST(Rewrite, WhatIsNoProgramIsRefusedAtItsPlace) {
  const auto said = [](const std::string& text) {
    return refusal([&] { rewrite("# 7 \"k.cu\"\n" + text); }, Category::argument);
  };
  EXPECT_EQ(said("K<<<1, 2>>>;"),
            "k.cu:7:2: a launch has no arguments: expected kernel<<<grid, block>>>(arguments)");
  EXPECT_EQ(said("f(K);\n)"), "k.cu:8:1: this ) has no pair");
  EXPECT_EQ(said("f(K<<<1, 2)"),
            "k.cu:7:4: this <<< has no >>>: expected kernel<<<grid, block>>>(arguments)");
  EXPECT_EQ(said("\n  x = <<<1, 2>>>(y);"),
            "k.cu:8:7: a launch has no kernel: expected kernel<<<grid, block>>>(arguments)");
  EXPECT_THAT(said("K<<<>>>(y);"), HasSubstr("k.cu:7:2: a launch has no grid and no block"));
  EXPECT_THAT(said("a>>>><<<1, 2>>>(y);"), HasSubstr("k.cu:7:5: a launch's kernel ends with a >"));
  EXPECT_EQ(said("void f() {"), "k.cu:7:10: this { has no pair");
  EXPECT_EQ(said("void f(]"), "k.cu:7:8: this ] has no pair");
  EXPECT_THAT(said("__shared__ int x }"), HasSubstr("k.cu:7:18: this } has no pair"));
  EXPECT_THAT(said("{ __shared__ int x }"), HasSubstr("k.cu:7:3: this __shared__ variable's"));
  EXPECT_THAT(said("{ asm(\"x\" : x); }"), HasSubstr("k.cu:7:13: this operand of inline PTX"));
}

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

TEST(Rewrite, EveryTokenKeepsItsFileLineAndColumn) {
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

TEST(Rewrite, WhiteSpaceCommentsAndMarkersChangeNothing) {
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

TEST(Rewrite, DirectivesStay) {
  const std::string text = kMarker +
                           "__global__ void K() {\n#pragma unroll\n  for (;;) ;\n#pragma omp\n"
                           "  L<<<1, 2>>>();\n}\n";
  EXPECT_THAT(rewrite(text), HasSubstr("{\n#pragma unroll\n  for (;;) ;\n#pragma omp\n  ("));
}

TEST(Rewrite, AnyTextIsRewrittenOrRefused) {
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

TEST(Rewrite, LargeTextsTakeLinearTime) {
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
