// CUDA's words become C++: before and after, case by case.
#include "plain_cuda/rewrite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rewritten.hpp"
#include "support/refusal.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

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
      {"in<<<1, 2>>>(x);", "(configure(@1:1, 1, 2), in(x));"},
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
  EXPECT_EQ(rewritten("void f() { if (a) asm(\"x;\"); else asm(\"y;\"); }"),
            plain("void f() { if (a) ptx(@1:19, \"x;\"); else ptx(@1:35, \"y;\"); }"));
}

TEST(Rewrite, TheStylesOfPublicPrograms) {
  const std::string body = cat("{", kRun, "});}");
  const auto inside = [](const std::string& text) { return "void f() {" + text + "}"; };
  for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
           {"switch (n) { case 512: reduce<T, 512, true> <<< g, b, m >>> (d, o, n); break; }",
            "switch (n) { case 512: (configure(@1:34, g, b, m), reduce<T, 512, true>(d, o, n)); "
            "break; }"},
           {"(k.*f)<<<1, 1>>>(); x = y * K<T>::run<<<1, 1>>>();",
            "(configure(@1:11, 1, 1), (k.*f)()); x = y * (configure(@1:39, 1, 1), K<T>::run());"},
           {"__shared__ typename cub::BlockReduce<T, 128>::TempStorage t;",
            "static thread_local typename cub::BlockReduce<T, 128>::TempStorage t;"},
           {"__shared__ union { typename A::T a; B b[2]; } u;",
            "static thread_local union { typename A::T a; B b[2]; } u;"},
           {"for (;;) { __shared__ cuda::barrier<scope> bar; }",
            "for (;;) { static thread_local cuda::barrier<scope> bar; }"},
           {"if (x) { extern __shared__ float2 s[]; s[0] = a; }",
            "if (x) { float2 (&s)[] = dynamic_shared(); s[0] = a; }"},
           {"asm volatile (\"{\\n\\t\" \".reg .u32 t;}\" : \"=r\"(v[i].x), \"=r\"(*(int*)&y) :);",
            "ptx(@1:11, \"{\\n\\t\" \".reg .u32 t;}\", ptx_out(\"=r\", (v[i].x)), "
            "ptx_out(\"=r\", (*(int*)&y)));"},
           {"do { asm(\"x;\"); } while (0); l: asm(\"y;\");",
            "do { ptx(@1:16, \"x;\"); } while (0); l: ptx(@1:43, \"y;\");"}})
    EXPECT_EQ(rewritten(inside(before)), plain(inside(after)));
  expect_each(
      {{"template <class T> struct S { operator T*() { extern __shared__ int s[]; return (T*)s; } "
        "};",
        "template <class T> struct S { operator T*() { int (&s)[] = dynamic_shared(); "
        "return (T*)s; } };"}});
  EXPECT_EQ(rewritten("template <class T>\n__launch_bounds__ (8)\n__global__\nvoid K() {}"),
            plain("template <class T> void K() {run_kernel(__func__, launch_bounds(8), "
                  "[=]() mutable -> void {});}"));
  EXPECT_EQ(rewritten("namespace { __global__ void K() {} } // K<<<1, 2>>>()"),
            plain("namespace { void K() " + body + " }"));
}

TEST(Rewrite, OtherUsesOfAsmAreLeftAlone) {
  for (const char* text :
       {"int f() __asm__(\"g\");", "asm(\".global x\");", "namespace a { asm(\"x\"); }",
        "extern \"C\" { asm(\"x\"); int f(); }", "void f() { register int x asm(\"eax\"); }",
        "void f() { int g() asm(\"h\"); }", "void f() { asm volatile(\"mfence\" ::: \"memory\"); }",
        "void f() { asm volatile(\"rdtsc\" : \"=a\"(a), \"=d\"(d)); }",
        "void f() { __asm__(\"\" : : \"r,m\"(x) : \"memory\"); }"})
    EXPECT_EQ(rewritten(text), plain(text));
  const std::string header = "# 1 \"s.h\" 1 3 4\nvoid f() { asm(\"x\"); }\n# 2 \"k.cu\" 2\n";
  EXPECT_THAT(rewrite(kMarker + header), HasSubstr("asm(\"x\")"));
  // A macro of a system header has that flag in the user's file as well.
  const std::string macro = "# 1 \"k.cu\" 3 4\nasm\n# 1 \"k.cu\"\n   (\"x;\");";
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

TEST(Rewrite, VariablesOfTheProgramMayHaveNamesOfCudas) {
  expect_each({{"int i = blockIdx.x * blockDim.x + threadIdx.x;",
                "int i = built_in(blockIdx).x * built_in(blockDim).x + built_in(threadIdx).x;"},
               {"f(blockIdx, threadIdx); dim3 g = gridDim, h{blockDim};",
                "f(built_in(blockIdx), built_in(threadIdx)); dim3 g = built_in(gridDim), "
                "h{built_in(blockDim)};"},
               {"return a[threadIdx.y][gridDim.x];",
                "return a[built_in(threadIdx).y][built_in(gridDim).x];"}});
  EXPECT_THAT(rewrite(kMarker + std::string("i = b%gridDim.x;")), HasSubstr("% ::tessera"));
  for (const std::string text :
       {"dim3 gridDim(2, 3), blockDim = dim3(4), blockIdx{1};",
        "void f(dim3 gridDim, int* threadIdx);", "struct A { dim3 gridDim, blockDim; };",
        "a.gridDim.x = b->blockDim.y + A::threadIdx.z;",
        "auto f = [gridDim](const dim3& blockDim) {};"})
    EXPECT_EQ(rewrite(kMarker + text), kMarker + text);
}

TEST(Rewrite, CallsOfMemberTemplatesAreNamed) {
  expect_each({{"void f() { V<T>::cast<4>(x); }", "void f() { V<T>::template cast<4>(x); }"},
               {"void f() { g(V<T, a::B>::cast<N, int*>(x)); }",
                "void f() { g(V<T, a::B>::template cast<N, int*>(x)); }"},
               {"void f() { V<T>::run<4><<<1, 2>>>(x); }",
                "void f() { (configure(@1:12, 1, 2), V<T>::template run<4>(x)); }"}});
  for (const std::string text : {"template <> void V<int>::cast<4>(int x) {}",
                                 "namespace n::m { template <> void V<int>::cast<4>(int x) {} }",
                                 "void f() { V<T>::template cast<4>(x); }",
                                 "void f() { return V<T>::least < x && y > (z); }",
                                 "void f() { a::b<4>(x); }", "void f() { a > ::cast<4>(x); }"})
    EXPECT_EQ(rewrite(kMarker + text), kMarker + text);
}

TEST(Rewrite, AllocationsKeepTheTypeBehindACast) {
  expect_each(
      {{"void f() { cudaMalloc((void**)&p, n); }", "void f() { cudaMalloc(typed(&p), n); }"},
       {"int e = cudaMallocManaged( (void **) (&s.p[i]), f(a, b));",
        "int e = cudaMallocManaged(typed((&s.p[i])), f(a, b));"},
       {"auto e = cudaHostAlloc(reinterpret_cast<void**>(&p), n, 0);",
        "auto e = cudaHostAlloc(typed(&p), n, 0);"}});
  for (const char* text :
       {"void f() { cudaMalloc(&p, n); }", "void f() { mine((void**)&p, n); }",
        "void f() { cudaMalloc((void**)&get<int, 2>(t), n); }", "void f() { g((void**)&p); }"})
    EXPECT_EQ(rewritten(text), plain(text));
}

TEST(Rewrite, ReturnsOfTheDeviceAreNoted) {
  expect_each({{"__device__ void f(int x) { if (x) return; else for (;;) return; }",
                "__device__ void f(int x) { if (x) { note_return(); return; } else for (;;) { "
                "note_return(); return; } }"}});
  for (const char* text : {"void f() { return; }", "__device__ int f() { return 1; }",
                           "__device__ constexpr void f() { return; }"})
    EXPECT_EQ(rewritten(text), plain(text));
}

TEST(Rewrite, ResultsAreStoredByTheCaller) {
  const auto is_stored = [](const std::string& begin, const std::string& call) {
    const std::string head = "__device__ void f() { " + begin, from = head + call + "; }",
                      to = head + "stored(" + call + "); }";
    expect_each({{from.c_str(), to.c_str()}});
  };
  for (const char* begin : {"p[i] = ", "*p = ", "s.x = ", "p->x[i] = ", "if (a) p[i] = ",
                            "for (int i = 0; i < n; ++i) p[i] = ", "else p[i][j] = "})
    is_stored(begin, "g(x, y)");
  for (const char* call : {"n::g<T>(x)", "s.g()", "a + g(x)"}) is_stored("p[i] = ", call);
  for (const char* text : {"T x = g(y);", "T* p = g(y);", "const n::T<U>& x = g(y);",
                           "auto [a, b] = g(y);", "x = g(y);", "p[i] += g(y);", "p[i] == g(y);",
                           "p[i] = q[i] = 0;", "p[i] = {g(y)};", "p[i] = q[j];", "p[i] = (x);",
                           "p[i] = a, g(y);", "decltype(x) y = g(z);", "for (p[i] = g(y);;);"}) {
    const std::string whole = std::string("__device__ void f() { ") + text + " }";
    EXPECT_EQ(rewritten(whole), plain(whole));
  }
  EXPECT_EQ(rewritten("void f() { p[i] = g(y); }"), plain("void f() { p[i] = g(y); }"));
}

TEST(Rewrite, UpdatesWithoutUseOfTheirResultSaySo) {
  expect_each({{"__device__ void f() { atomicAdd(&x, g(1, 2)); }",
                "__device__ void f() { atomicAdd(&x, g(1, 2), Unused{{\"k.cu\", 1, 23}}); }"},
               {"__device__ void f() { if (a) atomicMax(x, 1); }",
                "__device__ void f() { if (a) atomicMax(x, 1, Unused{{\"k.cu\", 1, 30}}); }"}});
  for (const char* text :
       {"__device__ int f() { return atomicAdd(&x, 1); }",
        "__device__ void f() { y = atomicOr(x, 1); }",
        "__device__ void f() { (void)atomicAdd(&x, 1); }",
        "__device__ void f() { atomicExch(&x, 1); }",
        "__device__ float atomicMax(float* a, float b); __device__ void f() { atomicMax(x, 1); }"})
    EXPECT_EQ(rewritten(text), plain(text));
}

TEST(Rewrite, NamesThatAreWordsOfCpp20AreRenamed) {
  expect_each(
      {{"int concept = 3; int f() { return concept; }",
        "int concept_ = 3; int f() { return concept_; }"},
       {"typedef unsigned char char8_t; char8_t a;", "typedef unsigned char char8_t_; char8_t_ a;"},
       {"void f(int requires, T* constinit) { co_await(1); }",
        "void f(int requires_, T* constinit_) { co_await(1); }"}});
  for (const char* text : {"template <class T> concept Small = sizeof(T) < 4;",
                           "void f(const char8_t, const char8_t* s);",
                           "template <class T> requires requires { typename T::x; } void f(T) {}",
                           "consteval int f() { return 1; } constinit int x = f();",
                           "T f() { if (a) co_return; else co_return; }"})
    EXPECT_EQ(rewritten(text), plain(text));
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
  EXPECT_THAT(said("K<<<1>>>(y);"), HasSubstr("k.cu:7:5: a launch has no block"));
  EXPECT_THAT(said("K<<<1, 2, 3, 4, 5>>>(y);"), HasSubstr("k.cu:7:5: a launch has more than four"));
  EXPECT_THAT(said("a>>>><<<1, 2>>>(y);"), HasSubstr("k.cu:7:5: a launch's kernel ends with a >"));
  EXPECT_EQ(said("void f() {"), "k.cu:7:10: this { has no pair");
  EXPECT_EQ(said("void f(]"), "k.cu:7:8: this ] has no pair");
  EXPECT_THAT(said("__shared__ int x }"), HasSubstr("k.cu:7:18: this } has no pair"));
  EXPECT_THAT(said("{ __shared__ int x }"), HasSubstr("k.cu:7:3: this __shared__ variable's"));
  EXPECT_THAT(said("{ asm(\"x\" : x); }"), HasSubstr("k.cu:7:13: this operand of inline PTX"));
}

}  // namespace
}  // namespace tessera::plain_cuda
