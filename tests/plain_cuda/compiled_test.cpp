// The rewriter's output compiles, and launches the right kernels in the right places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler.hpp"
#include "plain_cuda/rewrite.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {
namespace {

/// In place of the runtime: prints each launch.
const std::string kRuntime = R"cuda(
#include <cstddef>
#include <cstdio>
#include <cstring>
  struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  };
  extern "C" { alignas(16) __thread char dynamic_shared_bytes[64] __asm__("tessera_dynamic_shared"); }
#define __device__ __attribute__((unused))
#define __align__(n) __attribute__((aligned(n)))
  namespace tessera::plain_cuda {
  struct Place {
    const char* file;
    int line, column;
  };
  struct LaunchBounds {
    int threads, blocks;
  };
  constexpr LaunchBounds launch_bounds(int threads = 0, int blocks = 0) { return {threads, blocks}; }
  struct ClusterDims {
    int x, y, z;
  };
  constexpr ClusterDims cluster_dims(int x = 1, int y = 1, int z = 1) { return {x, y, z}; }
  inline void configure(Place place, dim3 grid, dim3 block, std::size_t shared = 0, int stream = 0) {
    std::printf("%d:%d <%u, %u, %zu, %d> ", place.line, place.column, grid.x, block.x, shared,
                stream);
  }
  template <class Closure>
  void run_kernel(const char* name, LaunchBounds bounds, const Closure& closure) {
    std::printf("%.*s(%d, %d)", static_cast<int>(std::strcspn(name, "<")), name, bounds.threads, bounds.blocks);
    Closure mine = closure;
    mine();
    std::puts("");
  }
  template <class Closure>
  void run_kernel(const char* name, LaunchBounds bounds, ClusterDims dims, const Closure& closure) {
    std::printf("cluster of %d: ", dims.x);
    run_kernel(name, bounds, closure);
  }
  struct DynamicShared {
    template <class T> operator T&() const { return *reinterpret_cast<T*>(&dynamic_shared_bytes); }
  };
  constexpr DynamicShared dynamic_shared() { return {}; }
  inline void note_return() {}
  template <class T>
  struct Operand {
    const char *name, *constraint;
    T* at;
  };
  template <class T>
  Operand<T> ptx_out(const char* c, T& x) {
    return {"", c, &x};
  }
  template <class T>
  Operand<const T> ptx_in(const char* c, const T& x) {
    return {"", c, &x};
  }
  template <class T>
  Operand<const T> ptx_in(const char* n, const char* c, const T& x) {
    return {n, c, &x};
  }
  template <class... T>
  void ptx(Place place, const char* text, T... operands) {
    std::printf(" [%d:%d %s", place.line, place.column, text);
    (std::printf(" %s%s=%d", operands.name, operands.constraint, static_cast<int>(*operands.at)),
     ...);
    std::printf("]");
  }
  }  // namespace tessera::plain_cuda
)cuda";

class Compiled : public CompilerTest {
 protected:
  std::string rewritten(const std::string& text) const {
    write("runtime.h", kRuntime);
    write("k.cu", "#include \"runtime.h\"\n" + text);
    compile({"-std=gnu++20", "-E", "-x", "c++", "k.cu", "-o", "k.ii"});
    const std::string original = read("k.cu");
    const std::string out = rewrite(read("k.ii"), [&](const std::string& file) {
      return file == "k.cu" ? &original : nullptr;
    });
    write("k.cuda.ii", out);
    return out;
  }
  /// What the program prints; line 2 is the first of `text`.
  std::string run(const std::string& text) const {
    rewritten(text);
    compile({"-std=gnu++20", "-g", "-Wall", "-Werror", "-Wno-unused", "-x", "c++-cpp-output",
             "k.cuda.ii", "-o", "program"});
    return printed_by("program");
  }
};

TEST_P(Compiled, KernelsOfEveryKindAreLaunched) {
  EXPECT_EQ(run(R"cuda(template <class T> struct Box { T x; };
template <class T, int N = 4> __global__ void __launch_bounds__(N * 32, 2) deduced(T x, const Box<T> box) {
  std::printf(" %d %d", static_cast<int>(x + box.x), N);
}
__global__ void over(int) { std::printf(" int"); }
__global__ void over(const char* text = "default") { std::printf(" %s", text); }
template <class... A> static __global__ void pack(A... all) { (std::printf(" %d", all), ...); }
__global__ void pointer(float* p, int* q) { if (p == nullptr && q == nullptr) return; std::printf(" set"); }
namespace a { namespace b { __global__ void inside(const int n) { int m[3]; m[0] = n; std::printf(" %d", m[0]); } } }
extern "C" { __global__ void c_kernel(int); }
extern "C" __global__ void c_kernel(int x) { std::printf(" c%d", x); }
template <bool B> __global__ void boolean() { if constexpr (B) std::printf(" yes"); else std::printf(" no"); }
template <> __global__ void boolean<false>() { std::printf(" special"); }
template __global__ void boolean<true>();
__global__ void __cluster_dims__(2, 1, 1) cluster(Box<int> const __grid_constant__ b) { std::printf(" %d", b.x); }
class Host {
  friend __global__ void friendly(Host h);
  int hidden = 5;
};
__global__ void friendly(Host h) { h.hidden += 1; std::printf(" %d", h.hidden); }
int main() {
  deduced<<<1, 2>>>(1, Box<int>{2});
  deduced<int, 8><<<dim3(3), dim3(4)>>>(1, {2});
  over<<<1, 1>>>(3);
  over<<<1, 1, 64, 7>>>();
  pack<<<1, 1>>>(1, 2, 3);
  pack<<<1, 1>>>();
  pointer<<<1, 1>>>(NULL, 0);
  a::b::inside<<<1, 1>>>(2);
  ::c_kernel<<<1, 1>>>(1);
  boolean<(3 > 2)><<<1, 1>>>();
  boolean<(1 >> 1)><<<1, 1>>>();
  void (*chosen)(int) = c_kernel;
  chosen<<<1, 1>>>(4);
  void (*table[])(int) = {c_kernel, over};
  (*table[1])<<<1, 1>>>(4);
  auto launch = [&](auto k, auto... x) { k<<<2, 2>>>(x...); };
  launch(pack<int, int>, 8, 9);
  cluster<<<2, 1>>>(Box<int>{3});
  friendly<<<1, 1>>>(Host());
}
)cuda"),
            "23:3 <1, 2, 0, 0> deduced(128, 2) 3 4\n"
            "24:3 <3, 4, 0, 0> deduced(256, 2) 3 8\n"
            "25:3 <1, 1, 0, 0> over(0, 0) int\n"
            "26:3 <1, 1, 64, 7> over(0, 0) default\n"
            "27:3 <1, 1, 0, 0> pack(0, 0) 1 2 3\n"
            "28:3 <1, 1, 0, 0> pack(0, 0)\n"
            "29:3 <1, 1, 0, 0> pointer(0, 0)\n"
            "30:3 <1, 1, 0, 0> inside(0, 0) 2\n"
            "31:3 <1, 1, 0, 0> c_kernel(0, 0) c1\n"
            "32:3 <1, 1, 0, 0> boolean(0, 0) yes\n"
            "33:3 <1, 1, 0, 0> boolean(0, 0) special\n"
            "35:3 <1, 1, 0, 0> c_kernel(0, 0) c4\n"
            "37:3 <1, 1, 0, 0> over(0, 0) int\n"
            "38:42 <2, 2, 0, 0> pack(0, 0) 8 9\n"
            "40:3 <2, 1, 0, 0> cluster of 2: cluster(0, 0) 3\n"
            "41:3 <1, 1, 0, 0> friendly(0, 0) 6\n");
}

TEST_P(Compiled, LaunchesStandWhereverAnExpressionMay) {
  EXPECT_EQ(run(R"cuda(#define LAUNCH(k, g, ...) k<<<g, 32>>>(__VA_ARGS__)
#define CHECK(call) do { call; } while (0)
__global__ void K(int x) { std::printf(" %d", x); }
int size(int x) { return x; }
int main() {
  int a = 3;
  if (a > 2) K<<<1, 2>>>(1);
  else K<<<1, 2>>>(2);
  if (a < 2)
    (K)<<<1, 2>>>(3);
  else
    (K)<<<1, 2>>>(4);
  a > 2 ? K<<<1, 2>>>(5) : K<<<1, 2>>>(6);
  for (int i = 0; i < 2; ++i, K<<<i, 2>>>(7)) (void)K<<<i, 1 << 2>>>(8);
  [&] { K<<<size([&] { return a; }()), 2>>>(9); }();
  LAUNCH(K, a, 10);    LAUNCH(K, 1 + a, 11);
  CHECK((K<<<1, 2>>>(12)));
  switch (a) { case 3: K<<<1, 2>>>(13); break; default: K<<<1, 2>>>(14); }
  K /* a */ <<< /* ) */ 1 , // >>>
    2 >>>
    ( 15 );
}
)cuda"),
            "8:14 <1, 2, 0, 0> K(0, 0) 1\n"
            "13:5 <1, 2, 0, 0> K(0, 0) 4\n"
            "14:11 <1, 2, 0, 0> K(0, 0) 5\n"
            "15:53 <0, 4, 0, 0> K(0, 0) 8\n"
            "15:31 <1, 2, 0, 0> K(0, 0) 7\n"
            "15:53 <1, 4, 0, 0> K(0, 0) 8\n"
            "15:31 <2, 2, 0, 0> K(0, 0) 7\n"
            "16:9 <3, 2, 0, 0> K(0, 0) 9\n"
            "17:10 <3, 32, 0, 0> K(0, 0) 10\n"
            "17:31 <4, 32, 0, 0> K(0, 0) 11\n"
            "18:10 <1, 2, 0, 0> K(0, 0) 12\n"
            "19:24 <1, 2, 0, 0> K(0, 0) 13\n"
            "20:3 <1, 2, 0, 0> K(0, 0) 15\n");
}

TEST_P(Compiled, SharedMemoryIsOneAndInlinePtxIsCalled) {
  EXPECT_EQ(
      run(R"cuda(template <class T> __global__ void K(T* out) {
  extern __shared__ __align__(8) char bytes[];
  extern __shared__ T elements[];
  __shared__ alignas(16) T tile[2][3];
  __shared__ static int count;
  static __shared__ struct { T x; } s;
  volatile __shared__ T v;
  v = 1, s.x = 2, tile[1][2] = 3, ++count, elements[1] = 4;
  std::printf(" %d %d", static_cast<void*>(bytes) == elements, count);
  int a = 5;
  asm volatile("add %0;" " end" : "+r"(a) : "n"(7), [name] "r"(count + 1) : "memory");
  if (a) asm("bar.sync 0;");
}
extern __shared__ float everywhere[][4];
__global__ void L() { std::printf(" %d", everywhere[0][1] == 4.0F); }
int main() {
  K<float><<<1, 1>>>(nullptr);
  L<<<1, 1>>>();
  K<float><<<2, 1>>>(nullptr);
}
)cuda"),
      "18:3 <1, 1, 0, 0> K(0, 0) 1 1 [12:3 add %0; end +r=5 n=7 namer=2] [13:10 bar.sync 0;]\n"
      "19:3 <1, 1, 0, 0> L(0, 0) 1\n"
      "20:3 <2, 1, 0, 0> K(0, 0) 1 2 [12:3 add %0; end +r=5 n=7 namer=3] [13:10 bar.sync 0;]\n");
}

TEST_P(Compiled, MessagesNameTheUsersLineAndColumn) {
  const std::string text = R"cuda(#define AT(p, i) ((p)[(i)])
__global__ void K(float* p) {
  __shared__ float s[4];   s[0] = AT(p, 1) + unknown_a;
  AT(p, 2) = s[1];     unknown_b = 1;
}
int main() { K<<<1, 1>>>(nullptr);   unknown_c(); }
)cuda";
  rewritten(text);
  const process::ProgramEnd end =
      call({GetParam().name, "-std=gnu++20", "-c", "-x", "c++-cpp-output", "k.cuda.ii"});
  EXPECT_FALSE(end.good());
  const std::string said = read("said");
  for (const char* place : {"k.cu:4:46: error", "k.cu:5:24: error", "k.cu:7:38: error"})
    EXPECT_THAT(said, ::testing::HasSubstr(place));
}

INSTANTIATE_TEST_SUITE_P(Compilers, Compiled,
                         ::testing::Values(Compiler{"g++", {}}, Compiler{"clang++-14", {}}),
                         short_name);

}  // namespace
}  // namespace tessera::plain_cuda
