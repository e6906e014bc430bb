// The kernels of the ladder under the checker: clean in every tile at odd shapes, the same bytes as
// a run without it, the same report on any number of cores; and with any one of their barriers
// deleted, a race.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "check/report_text.hpp"
#include "tessera/check/format.hpp"
#include "tessera/kernels/block_tiled.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"
#include "tessera/kernels/pipelined.hpp"
#include "tessera/kernels/sarek_tiled.hpp"
#include "tessera/kernels/single_block.hpp"
#include "tessera/kernels/tensor_core.hpp"
#include "tessera/kernels/tiled.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"
#include "tessera/kernels/tiled_register.hpp"
#include "tessera/matmul/check.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

template <class T>
struct Matrices {
  index_t M, N, K;
  std::vector<T> a, b, c;
  Matrices(index_t m, index_t n, index_t k)
      : M(m),
        N(n),
        K(k),
        a(static_cast<std::size_t>(m * k)),
        b(static_cast<std::size_t>(k * n)),
        c(static_cast<std::size_t>(m * n), convert<T>(-77.0f)) {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = convert<T>(static_cast<float>(i * 7 % 13) - 6);
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = convert<T>(static_cast<float>(i * 5 % 11) - 5);
  }
  ConstMatrix A() const { return {a.data(), dtype_of<T>(), M, K, K, 1}; }
  ConstMatrix B() const { return {b.data(), dtype_of<T>(), K, N, N, 1}; }
  Matrix C() { return {c.data(), dtype_of<T>(), M, N, N, 1}; }
};

template <class T>
check::Report checked(Matrices<T>& in, const Options& options, double beta = 0,
                      const check::Options& how = {}) {
  return check_matmul(make_plan(make_problem(in.A(), in.B(), in.C(), 1, beta), options), in.A(),
                      in.B(), in.C(), how);
}

constexpr index_t kShapes[][3] = {{17, 31, 9}, {1, 1, 1}, {65, 33, 70}, {8, 130, 37}};

TEST(CheckedLadder, EveryTileIsCleanAtOddShapesAndLeavesTheSameBytes) {
  for (const auto& name : checked_algorithms()) {
    for (const auto& tile : find_algorithm(name).tiles) {
      for (const auto& [m, n, k] : kShapes) {
        SCOPED_TRACE(cat(name, " ", to_string(tile), " ", m, "x", n, "x", k));
        Matrices<float> in(m, n, k), plain(m, n, k);
        Options options;
        options.algorithm = name;
        options.tile = tile;
        const auto report = checked(in, options);
        EXPECT_TRUE(report.findings.empty()) << text_of(report);
        matmul(plain.A(), plain.B(), plain.C(), 1, 0, options);
        EXPECT_EQ(std::memcmp(in.c.data(), plain.c.data(), in.c.size() * sizeof(float)), 0);
      }
    }
  }
}

TEST(CheckedLadder, HalfPrecisionBetaAndOrdersAreCleanToo) {
  for (const auto& name : checked_algorithms()) {
    SCOPED_TRACE(name);
    Options options;
    options.algorithm = name;
    if (find_algorithm(name).supports(DType::f16, DType::f16)) {
      const auto spelling = spell_kernel(name, DType::f16, DType::f16, {});
      EXPECT_TRUE(spelling.is_compiled || spelling.header.empty());
      Options its_own = options;
      its_own.tile = spelling.tile;
      Matrices<f16> half(33, 17, 40);
      if (spelling.is_compiled) {
        EXPECT_EQ(text_of(checked(half, its_own)).find("error"), std::string::npos);
      }
    }
    options.order = ThreadOrder::shuffled;
    options.seed = 3;
    Matrices<float> in(33, 17, 40);
    const auto report = checked(in, options, 2);
    EXPECT_TRUE(report.findings.empty()) << text_of(report);
  }
}

/// Of operands that bulk copies can read.
TEST(CheckedLadder, BulkKernelsAreCleanInEveryTile) {
  for (const char* name : {"warpgroup", "thin", "bulk_tiled", "three_bf16"}) {
    for (const auto& tile : find_algorithm(name).tiles) {
      for (const auto order : {ThreadOrder::forward, ThreadOrder::late}) {
        SCOPED_TRACE(cat(name, " ", to_string(tile), " ", tessera::name(order)));
        Matrices<float> in(100, 92, 68);
        const ConstMatrix B{in.b.data(), DType::f32, in.K, in.N, 1, in.K};
        Options options;
        options.algorithm = name, options.tile = tile, options.order = order;
        const auto report =
            check_matmul(make_plan(make_problem(in.A(), B, in.C()), options), in.A(), B, in.C());
        EXPECT_EQ(report.kernel, name);
        EXPECT_TRUE(report.findings.empty()) << text_of(report);
      }
    }
  }
}

template <class T>
void expect_clean_of_16_bits(const char* name, index_t k, const char* kernel) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::late}) {
    SCOPED_TRACE(cat(name, " ", tessera::name(dtype_of<T>()), " K=", k, " ", tessera::name(order)));
    Matrices<T> in(40, 72, k), plain(40, 72, k);
    const Options options{.algorithm = name, .order = order, .seed = 5};
    const auto report = checked(in, options);
    EXPECT_EQ(report.kernel, kernel);
    EXPECT_TRUE(report.findings.empty()) << text_of(report);
    matmul(plain.A(), plain.B(), plain.C(), 1, 0, options);
    EXPECT_EQ(std::memcmp(in.c.data(), plain.c.data(), in.c.size() * sizeof(T)), 0);
  }
}

/// Of rows that are a multiple of 16 bytes long, and of others: `tensor_core` takes those.
TEST(CheckedLadder, BulkKernelsOf16BitsAreCleanAndLeaveTheSameBytes) {
  expect_clean_of_16_bits<bf16>("warpgroup", 136, "warpgroup");
  expect_clean_of_16_bits<f16>("warpgroup", 136, "warpgroup");
  for (const char* name : {"warpgroup", "thin"}) {
    expect_clean_of_16_bits<bf16>(name, 37, "tensor_core");
    expect_clean_of_16_bits<f16>(name, 37, "tensor_core");
  }
  for (const auto order : {ThreadOrder::forward, ThreadOrder::late}) {
    Matrices<bf16> in(3, 72, 136);
    const Options options{.algorithm = "thin", .order = order, .seed = 5};
    const auto report = checked(in, options);
    EXPECT_EQ(report.kernel, "thin");
    EXPECT_TRUE(report.findings.empty()) << text_of(report);
  }
}

/// In rows along K, and otherwise.
template <class T, class Out>
void expect_clean_of_bytes(ThreadOrder order) {
  Matrices<T> in(100, 92, 68);
  for (std::size_t i = 0; i < in.a.size(); ++i)
    in.a[i] = convert<T>(static_cast<float>(i * 7 % 13));
  for (std::size_t i = 0; i < in.b.size(); ++i)
    in.b[i] = convert<T>(static_cast<float>(i * 5 % 11));
  std::vector<Out> c(100 * 92, Out{-1});
  const Matrix C{c.data(), dtype_of<Out>(), in.M, in.N, in.N, 1};
  const Options options{.algorithm = "warpgroup", .order = order, .seed = 5};
  const auto report =
      check_matmul(make_plan(make_problem(in.A(), in.B(), C), options), in.A(), in.B(), C);
  EXPECT_EQ(report.kernel, "warpgroup");
  EXPECT_TRUE(report.findings.empty()) << text_of(report);
  EXPECT_EQ(report.total.mma_instructions, 8 * 4);  // one tile: K = 128 of 68
  float sum = 0;
  for (index_t k = 0; k < in.K; ++k)
    sum += static_cast<float>(in.a[static_cast<std::size_t>(99 * 68 + k)]) *
           static_cast<float>(in.b[static_cast<std::size_t>(k * 92 + 91)]);
  EXPECT_EQ(static_cast<float>(c.back()), sum);
}

TEST(CheckedLadder, WarpgroupsOfBytesAreClean) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::late}) {
    expect_clean_of_bytes<f8e4m3, float>(order);
    expect_clean_of_bytes<f8e5m2, float>(order);
    expect_clean_of_bytes<std::int8_t, std::int32_t>(order);
    expect_clean_of_bytes<std::uint8_t, std::int32_t>(order);
  }
}

TEST(CheckedLadder, TheReportDoesNotDependOnTheCores) {
  for (const char* name : {"naive", "tiled", "tensor_core"}) {
    std::string texts[3];
    for (int i = 0; i < 3; ++i) {
      Matrices<float> in(130, 70, 40);
      Options options;
      options.algorithm = name;
      options.threads = i + 1;
      texts[i] = check::to_json(checked(in, options), check::device_model("a100"));
    }
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_EQ(texts[0], texts[2]);
  }
}

TEST(CheckedLadder, BlocksAreSampledAndTheSummarySaysSo) {
  Matrices<float> in(130, 70, 40);
  Options options;
  options.algorithm = "tiled";
  options.tile = {.bm = 8, .bn = 8, .bk = 8};
  const auto report = checked(in, options, 0, {.blocks = 10});
  EXPECT_EQ(report.summary.checked_blocks, 10);
  EXPECT_EQ(report.summary.blocks, 17 * 9);
  EXPECT_TRUE(report.summary.clean);
  EXPECT_EQ(check::summary_line(report), "clean: no findings in 10 of 153 blocks");
}

TEST(CheckedLadder, WhatIsNotCompiledForTheCheckerIsRefused) {
  Matrices<float> in(8, 8, 8);
  for (const char* name : {"packed", "split_k"}) {
    Options options;
    options.algorithm = name;
    try {
      checked(in, options);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), Category::unavailable) << error.what();
    }
  }
}

// ---- each barrier deleted in turn ---------------------------------------------------------------

/// A thread that does not wait at the barrier of one line.
template <class Thread>
struct WithoutBarrier : Thread {
  int deleted;
  WithoutBarrier(const Thread& t, int line) : Thread(t), deleted(line) {}
  void barrier(Here here = Here::current()) {
    if (here.line != deleted) Thread::barrier(here);
  }
  template <class Body>
  void superstep(const char* name, Body&& body, Here here = Here::current()) {
    if (here.line != deleted) Thread::superstep(name, std::forward<Body>(body), here);
    else std::forward<Body>(body)();
  }
};

template <class Kernel>
struct Mutant : Kernel {
  int deleted;
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    Kernel::operator()(WithoutBarrier<decltype(t)>(t, deleted), A, B, C);
  }
};

template <class Kernel>
check::Report without_barrier(int line) {
  Matrices<float> in(66, 66, 40);
  return check::check({.fresh_outputs = true}, Kernel::grid(in.M, in.N), Mutant<Kernel>{{}, line},
                      tensor<kRowMajorMatrix>(std::as_const(in.a).data(), in.M, in.K, in.K),
                      tensor<kRowMajorMatrix>(std::as_const(in.b).data(), in.K, in.N, in.N),
                      tensor<kRowMajorMatrix>(in.c.data(), in.M, in.N, in.N));
}

/// `needed` of the kernel's barriers are needed: without any one of them there is a race of shared
/// memory between two lines of the kernel (a warning where only lanes of one warp meet).
template <class Kernel>
void expect_barriers(const char* name, int needed) {
  SCOPED_TRACE(name);
  const check::Report whole = without_barrier<Kernel>(-1);
  EXPECT_TRUE(whole.findings.empty()) << text_of(whole);
  int racing = 0;
  for (const auto& each : whole.by_line) {
    if (each.counters.block_barriers == 0) continue;
    const check::Report report = without_barrier<Kernel>(each.location.line);
    racing += std::any_of(report.findings.begin(), report.findings.end(), [&](const auto& f) {
      return f.kind == check::Kind::race && f.severity != check::Severity::note &&
             f.memory == check::Memory::shared && f.location.file == each.location.file &&
             f.other.file == each.location.file && f.location.line != f.other.line;
    });
  }
  EXPECT_EQ(racing, needed);
}

TEST(DeletedBarrier, IsARaceInEveryKernel) {
  constexpr TileShape cube{.bm = 16, .bn = 16, .bk = 16};
  expect_barriers<Tiled<cube>>("tiled", 2);
  expect_barriers<TiledByHand<cube>>("tiled_by_hand", 2);
  expect_barriers<TiledIdiomatic<cube>>("tiled_idiomatic", 2);
  expect_barriers<SingleBlock<cube>>("single_block", 2);
  // Three barriers: the one behind load_b orders load_a as well.
  expect_barriers<SarekTiled<cube>>("sarek_tiled", 2);
  expect_barriers<TiledRegister<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8}>>("tiled_register",
                                                                                  2);
  constexpr TileShape square{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8};
  expect_barriers<BlockTiled<square>>("block_tiled", 2);
  expect_barriers<BlockTiledVectorized<square>>("block_tiled_vectorized", 2);
  expect_barriers<Pipelined<TileShape{.bm = 32, .bn = 32, .bk = 16, .tm = 4, .tn = 4}>>("pipelined",
                                                                                        2);
  expect_barriers<TensorCoreTiled<TileShape{.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 32}>>(
      "tensor_core", 2);
}

}  // namespace
}  // namespace tessera
