// Kernels that die: each is a finding with block, thread and superstep, beside all that the other
// threads did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "support/sanitizers.hpp"
#include "tessera/check/check.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {
namespace {

using ::testing::HasSubstr;

enum class End { null_pointer, wild_pointer, division, abort, illegal };

/// Thread (2,1,0) of block (1,0,0) ends so; the others write.
struct Dies {
  static constexpr const char* name = "dies";
  static constexpr Dim3 block{4, 2};
  End end;

  void die() const {
    volatile int zero = 0;
    int* volatile null = nullptr;
    auto* const volatile wild = reinterpret_cast<int*>(0x7000deadbee0);
    switch (end) {
      case End::null_pointer: *null = 1; break;
      case End::wild_pointer: *wild = 1; break;
      case End::division: zero = 7 / zero; break;
      case End::abort: std::abort();
      case End::illegal: __builtin_trap();
    }
  }
  void operator()(auto t, auto C) const {
    const int at = t.block.x * 8 + t.thread;
    t.superstep("write", [&] {
      C(0, at) = 1.0f;
      if (at == 8 + 6) die();
    });
  }
};

Report report_of(End end, const Options& options = {}) {
  HostTensor<float> C(1, 24);
  return check(options, Dim3{3}, Dies{end}, C.view());
}

class Crash : public ::testing::TestWithParam<std::pair<End, const char*>> {};

TEST_P(Crash, IsAFindingWithItsPlace) {
  if (tessera::testing::kSanitized)
    GTEST_SKIP() << "NOT tested: a sanitizer takes the signals that end these kernels";
  const auto& [end, said] = GetParam();
  const Report report = report_of(end);
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& f = report.findings[0];
  EXPECT_EQ(name(f.kind), "crash");
  EXPECT_EQ(f.severity, Severity::error);
  EXPECT_EQ(to_string(f.block), "(1,0,0)");
  ASSERT_EQ(f.threads.size(), 1u);
  EXPECT_EQ(to_string(f.threads[0]), "(2,1,0)");
  EXPECT_EQ(f.superstep, "write");
  EXPECT_TRUE(f.location.file.ends_with("crash_test.cpp")) << f.location.file;
  EXPECT_GT(f.location.line, 0);
  EXPECT_THAT(f.problem, HasSubstr(said));
  EXPECT_THAT(f.problem, HasSubstr("last seen at crash_test.cpp:"));
  EXPECT_FALSE(report.summary.clean);
  EXPECT_EQ(report.summary.checked_blocks, 3);
  ASSERT_EQ(report.coverage.size(), 1u);
  EXPECT_GE(report.coverage[0].written, 16) << "the other blocks went on";
}

INSTANTIATE_TEST_SUITE_P(Kernels, Crash,
                         ::testing::Values(std::pair{End::null_pointer, "address 0x0"},
                                           std::pair{End::wild_pointer, "SIGSEGV"},
                                           std::pair{End::division, "SIGFPE"},
                                           std::pair{End::abort, "SIGABRT"},
                                           std::pair{End::illegal, "SIGILL"}));

TEST(Crash, LeavesHandlersAndCheckerAsTheyWere) {
  if (tessera::testing::kSanitized) GTEST_SKIP() << "NOT tested: as above";
  struct sigaction before {
  }, after{};
  sigaction(SIGFPE, nullptr, &before);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(report_of(End::division).findings.size(), 1u);
  sigaction(SIGFPE, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(Crash, OfAKernelThatNobodyWatchesIsACrash) {
  HostTensor<float> C(1, 24);
  EXPECT_DEATH(launch({.grid = Dim3{3}, .block = Dies::block}, Dies{End::abort}, C.view()), "");
}

}  // namespace
}  // namespace tessera::check
