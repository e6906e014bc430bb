// Programs that ask for their own debug information, as GCC and Clang write it.
#include "plain_cuda/runtime/debug_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "compiler.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {
namespace {

const std::string kBegin = R"(
#include <pthread.h>
#include <cstdio>
#include <functional>
#include "plain_cuda/runtime/debug_info.hpp"
#define UNSEEN(x) asm volatile("" : : "r"(&(x)) : "memory")
)";

class DebugInfo : public CompilerTest {
 protected:
  /// What the program prints that is compiled of main.cpp.
  std::string run(const std::string& text) const {
    write("main.cpp", kBegin + text);
    const std::string project = PROJECT_FOLDER;
    compile({"-std=c++20", "-O2", "-g", "-I.", "-I" + project + "/src", "-I" + project + "/include",
             "main.cpp", RUNTIME_LIBRARY, "-ldw", "-o", "program"});
    return printed_by("program");
  }
};

// Prints each variable and what the program knows of its address.
const std::string kPrintVariables = R"(
struct Known { const char* name; const void* at; };
void print(std::initializer_list<Known> all) {
  const auto thread = reinterpret_cast<std::intptr_t>(reinterpret_cast<void*>(pthread_self()));
  for (const auto& v : tessera::plain_cuda::variables()) {
    const void* known = nullptr;
    for (const Known& each : all) if (v.name == each.name) known = each.at;
    const auto at = reinterpret_cast<std::intptr_t>(known);
    const bool is_there = v.is_shared ? at == thread + v.thread_offset
                                      : static_cast<std::uint64_t>(at) == v.address;
    const auto shape = [](const tessera::plain_cuda::Shape& s) {
      std::printf(" %s %zu/%zu", s.element.c_str(), s.bytes, s.element_bytes);
      for (const auto e : s.extents) std::printf("[%d]", static_cast<int>(e));
    };
    std::printf("%s %s in %s%s %s", v.is_shared ? "shared" : "global", v.name.c_str(),
                v.function.c_str(), v.is_in_kernel ? " kernel" : "", is_there ? "there" : "elsewhere");
    shape(v);
    for (const auto& m : v.members) std::printf(" {%s +%zu", m.name.c_str(), m.offset), shape(m), std::printf("}");
    std::printf("\n");
  }
}
)";

/// The lines of `text`, sorted, as the order of addresses is the linker's.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Over 60 lines: a table, one case or field a line.
TEST_P(DebugInfo, NamesVariablesAndTheirPlacesAndShapes) {
  const std::string printed = run(kPrintVariables + R"(
struct Inner { int a[2]; char b; };
struct Base { double base; };
struct Pair : Base { float x; int y[2]; Inner in; };
static float table[4][5];
namespace device { const Pair* volatile seen; Pair pair; }
struct Holder { static int counter; };
int Holder::counter = 3;
union Either { float f; int i; } either;
template <class Body> __attribute__((noinline)) void run_kernel(const char*, Body body) { body(); }
__attribute__((always_inline)) inline float* device_sum() {
  static thread_local float sums[8];
  UNSEEN(sums);
  return sums;
}
const void *as_at, *bs_at, *sums_at, *one_at;
template <class T, int N> void matmul(const T* a) {
  run_kernel(__func__, [=]() mutable {
    static thread_local T As[N][N + 1];
    UNSEEN(As);
    As[0][1] = *a;
    as_at = As;
    sums_at = device_sum();
  });
}
void plain() {
  run_kernel(__func__, [=] {
    static thread_local Inner Bs;
    static thread_local volatile int one;
    one = 1;
    UNSEEN(Bs);
    bs_at = &Bs, one_at = const_cast<int*>(&one);
  });
}
int main() {
  static int calls;
  UNSEEN(calls);
  UNSEEN(table);
  UNSEEN(device::pair);
  UNSEEN(either);
  float f = 1;
  matmul<float, 16>(&f);
  plain();
  print({{"As", as_at}, {"Bs", bs_at}, {"sums", sums_at}, {"one", one_at}, {"table", table},
         {"pair", &device::pair}, {"seen", (const void*)&device::seen}, {"counter", &Holder::counter},
         {"either", &either}, {"calls", &calls}, {"as_at", &as_at}, {"bs_at", &bs_at},
         {"sums_at", &sums_at}, {"one_at", &one_at}});
}
)");
  EXPECT_THAT(
      lines_of(printed),
      ::testing::UnorderedElementsAre(
          "shared As in matmul kernel there float 1088/4[16][17]",
          "shared Bs in plain kernel there Inner 12/12 {Bs.a +0 int 8/4[2]} {Bs.b +8 char 1/1}",
          "shared one in plain kernel there int 4/4",
          "shared sums in device_sum there float 32/4[8]",
          "global table in  there float 80/4[4][5]",
          "global pair in  there Pair 32/32 {pair.base +0 double 8/8} {pair.x +8 float 4/4} "
          "{pair.y +12 int 8/4[2]} {pair.in.a +20 int 8/4[2]} {pair.in.b +28 char 1/1}",
          ::testing::StartsWith("global seen in  there "), "global counter in  there int 4/4",
          "global either in  there Either 4/4", "global calls in main there int 4/4",
          ::testing::StartsWith("global as_at in  there"),
          ::testing::StartsWith("global bs_at in  there"),
          ::testing::StartsWith("global sums_at in  there"),
          ::testing::StartsWith("global one_at in  there")))
      << printed;
}

TEST_P(DebugInfo, PlacesAreTheUsersLinesAndColumns) {
  write("tessera/plain_cuda/header.h", R"(
inline __attribute__((always_inline)) int inner(int x) { return here() + x; }
inline __attribute__((always_inline)) int outer(int x) {
  return 1 + inner(x);
}
)");
  const std::string printed = run(R"(
__attribute__((noinline)) int here() {
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const auto place = tessera::plain_cuda::place_of(pc - 1);
  const std::string file = place.file;
  std::printf("%s:%d:%d\n", file.substr(file.rfind('/') + 1).c_str(), place.line, place.column);
  static volatile int nothing = 0;
  return nothing;
}
#include "tessera/plain_cuda/header.h"
template <class F> __attribute__((noinline)) int twice(F f) { return f() + f(); }
int n = 0;
__attribute__((flatten)) void by_library() {
#line 50 "other.cuh"
  n += std::invoke(std::plus<>(), 1,
                   std::invoke(here));
}
int main() {
#line 100 "main.cu"
  n += here();
  n += 1 + here() +   here();
  n += inner(n);
  n += outer(n) +
       outer(n);
  n += std::plus<>()(n, outer(1));
  n += twice([] {
    return 1 + outer(2);
  });
  by_library();
  if (n < 0) n += outer(3);
  n += here();
}
)");
  // GCC gives a call the column after its name, Clang that of its first token.
  const bool is_clang = std::string(GetParam().name).starts_with("clang");
  std::string wanted;
  for (const auto& [file, line, clang, gcc] :
       std::initializer_list<std::tuple<const char*, int, int, int>>{{"main.cu", 100, 8, 12},
                                                                     {"main.cu", 101, 12, 16},
                                                                     {"main.cu", 101, 23, 27},
                                                                     {"main.cu", 102, 8, 13},
                                                                     {"main.cu", 103, 8, 13},
                                                                     {"main.cu", 104, 8, 13},
                                                                     {"main.cu", 105, 25, 30},
                                                                     {"main.cu", 107, 16, 21},
                                                                     {"main.cu", 107, 16, 21},
                                                                     {"other.cuh", 51, 20, 31},
                                                                     {"main.cu", 111, 8, 12}})
    wanted += cat(file, ":", line, ":", is_clang ? clang : gcc, "\n");
  EXPECT_EQ(printed, wanted);
}

TEST_P(DebugInfo, TellsInstancesOfAKernelApart) {
  const std::string printed = run(R"cuda(
template <class Body> void run_kernel(const char* name, const Body& body) {
  void (*code)(const void*) = [](const void* at) {
    Body mine = *static_cast<const Body*>(at);
    mine();
  };
  code(&body);
  for (const auto& v : tessera::plain_cuda::variables()) {
    if (tessera::plain_cuda::runs(reinterpret_cast<std::uintptr_t>(code), v.instance))
      std::printf("%s has %s, %zu bytes\n", name, v.name.c_str(), v.bytes);
  }
}
struct Pair { int x; };
template <int N> void call(Pair) {}
namespace {
template <class T, unsigned N> void reduce(const T* a, Pair p, void (*f)(Pair)) {
  run_kernel("reduce", [=]() mutable {
    static thread_local T partial[N];
    UNSEEN(partial);
    partial[0] = *a;
    f(p);
  });
}
void plain() {
  run_kernel("plain", [=] {
    static thread_local int one;
    one = 1;
    UNSEEN(one);
  });
}
}
namespace n::m {
void scan() {
  run_kernel("scan", [=] {
    static thread_local int two[2];
    two[1] = 1;
    UNSEEN(two);
  });
}
}
int main() {
  float f = 1;
  double d = 2;
  reduce<float, 16>(&f, {}, call<1>);
  reduce<float, 32>(&f, {}, call<2>);
  reduce<double, 32>(&d, {}, call<2>);
  plain();
  n::m::scan();
}
)cuda");
  EXPECT_EQ(printed,
            "reduce has partial, 64 bytes\nreduce has partial, 128 bytes\n"
            "reduce has partial, 256 bytes\nplain has one, 4 bytes\nscan has two, 8 bytes\n");
}

INSTANTIATE_TEST_SUITE_P(Compilers, DebugInfo,
                         ::testing::Values(Compiler{"g++", {}},
                                           Compiler{"g++", {"-gdwarf-4", "-no-pie"}},
                                           Compiler{"clang++-14", {}},
                                           Compiler{"clang++-14", {"-gdwarf-4"}}),
                         short_name);

}  // namespace
}  // namespace tessera::plain_cuda
