// What a caller may ask for: the limits of a device, suppressions with a reason, a place where a
// debugger stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/check/check.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/matchers.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

template <int Bytes>
struct Large {
  static constexpr const char* name = "large";
  static constexpr Dim3 block{32};
  struct Shared {
    Tile<std::int8_t, 1, Bytes> s;
  };
  void operator()(auto t, auto C) const {
    shared<Shared>(t).s(0, t.thread) = 1;
    C(0, t.thread) = 1.0f;
  }
};

template <int Bytes>
Report with_bytes(const std::string& device) {
  HostTensor<float> C(1, 32);
  Options options;
  options.device = device;
  return check(options, Dim3{1}, Large<Bytes>{}, C.view());
}

TEST(Device, LimitsAreThoseOfTheDevice) {
  EXPECT_THAT(with_bytes<163 * 1024>("a100"), IsClean());
  const Report report = with_bytes<200 * 1024>("a100");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(name(report.findings[0].kind), "impossible-launch");
  EXPECT_THAT(report.findings[0].problem, HasSubstr("204800 bytes of shared memory; a100"));
  EXPECT_THAT(report.findings[0].problem, HasSubstr("166912 (163 KiB)"));
  EXPECT_GT(report.total.global_store_requests, 0) << "the kernel is judged all the same";
  EXPECT_THAT(with_bytes<200 * 1024>("h100"), IsClean());
  EXPECT_THAT(with_bytes<227 * 1024>("h200"), IsClean());
  EXPECT_THAT(with_bytes<200 * 1024>(""), IsClean());
}

TEST(Device, WhatNoDeviceHasIsOneFindingThatNamesTheOneAskedFor) {
  const Report report = with_bytes<300 * 1024>("a100");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].count, 1);
  EXPECT_THAT(report.findings[0].problem, HasSubstr("a100"));
  EXPECT_THAT([] { with_bytes<64>("h20"); }, ThrowsMessage<Error>(HasSubstr("did you mean")));
}

/// Every thread writes C(0, 0), and reads what no thread has written.
struct Racy {
  static constexpr const char* name = "racy";
  static constexpr Dim3 block{64};
  void operator()(auto t, auto C) const {
    C(0, 0) = static_cast<float>(t.thread.x);
    C(1, t.thread) = 1.0f;
  }
};

Report suppressed_by(const std::string& lines) {
  HostTensor<float> C(2, 64);
  Options options;
  options.suppressions = parse_suppressions(lines, "known.txt");
  return check(options, Dim3{1}, Racy{}, C.view());
}

TEST(Suppressions, TakeFindingsOutAndKeepThemWithTheReason) {
  const Report before = suppressed_by("");
  EXPECT_THAT(before, Not(IsClean()));
  const Report report = suppressed_by(
      "# known\n\nkind=race tensor=A file=options_test.cpp reason=\"any of them will do\"\n"
      "kind=never-written reason=\"the rest is not needed\"\n");
  EXPECT_THAT(report, IsClean());
  EXPECT_GE(report.summary.suppressed, 2);
  EXPECT_EQ(report.suppressed.size() + report.findings.size(), before.findings.size());
  EXPECT_EQ(report.suppressed[0].reason, "any of them will do");
  EXPECT_THAT(report.unused_suppressions, IsEmpty());
  EXPECT_THAT(summary_line(report), HasSubstr(cat(report.summary.suppressed, " suppressed")));
  const std::string json = to_json(report, device_model("h200"));
  EXPECT_THAT(json, HasSubstr("\"reason\": \"any of them will do\""));
  EXPECT_THAT(to_text(report, device_model("h200")), HasSubstr("suppressed: race at "));
}

TEST(Suppressions, ThatDoNotAgreeInEveryWordSuppressNothing) {
  for (const char* line : {"kind=race tensor=D", "kind=race file=other.cpp", "kind=race line=1",
                           "kind=race memory=shared", "kind=misaligned"}) {
    const Report report = suppressed_by(cat(line, " reason=no"));
    EXPECT_EQ(report.summary.suppressed, 0) << line;
    EXPECT_THAT(report, Not(IsClean())) << line;
    EXPECT_THAT(report.unused_suppressions,
                ElementsAre(cat("known.txt:1: ", line, " reason=\"no\"")));
  }
  EXPECT_THAT(suppressed_by("kernel=other kind=race reason=no").unused_suppressions, IsEmpty())
      << "those of another kernel are not this one's business";
  EXPECT_GE(suppressed_by("kernel=ra* tensor=* reason=all").summary.suppressed, 2);
}

TEST(Suppressions, MistakesNameTheLine) {
  for (const auto& [line, said] : {std::pair{"kind=race", "known.txt:2: a suppression without"},
                                   std::pair{"kind=rac reason=x", "did you mean 'race'?"},
                                   std::pair{"knd=race reason=x", "did you mean 'kind'?"},
                                   std::pair{"reason=x", "would suppress every finding"},
                                   std::pair{"race reason=x", "not KEY=VALUE"},
                                   std::pair{"line=x reason=x", "no number of a line"},
                                   std::pair{"kind=race reason=\"x", "quotes of reason do not end"},
                                   std::pair{"kind=race kind=race reason=x", "given twice"},
                                   std::pair{"kind=race reason=\"\"", "reason has no value"},
                                   std::pair{"memory=vram reason=x", "unknown memory 'vram'"}}) {
    EXPECT_THAT([line = line] { suppressed_by(cat("# first\n", line)); },
                ThrowsMessage<Error>(AllOf(HasSubstr("known.txt:2: "), HasSubstr(said))));
  }
}

TEST(StopAt, IsReadAndMustBeInTheLaunch) {
  const StopAt stop = parse_stop_at("block=1,2 thread=3,0,4 superstep=load");
  EXPECT_EQ(stop.block, (Dim3{1, 2, 0}));
  EXPECT_EQ(stop.thread, (Dim3{3, 0, 4}));
  EXPECT_EQ(stop.superstep, "load");
  EXPECT_THAT([] { parse_stop_at("thread=x"); }, ThrowsMessage<Error>(HasSubstr("3,1,0")));
  EXPECT_THAT([] { parse_stop_at("lane=3"); }, ThrowsMessage<Error>(HasSubstr("unknown key")));
  HostTensor<float> C(2, 64);
  Options options;
  options.stop_at = parse_stop_at("block=1 thread=0");
  EXPECT_THAT([&] { check(options, Dim3{1}, Racy{}, C.view()); },
              ThrowsMessage<Error>(HasSubstr("there is no block (1,0,0)")));
}

struct InCluster {
  static constexpr const char* name = "in_cluster";
  static constexpr Dim3 block{32}, cluster{2};
  void operator()(auto t, auto C) const { C(t.block, t.thread) = 1.0f; }
};

TEST(Cluster, IsCheckedWhole) {
  HostTensor<float> C(6, 32);
  Options options;
  options.blocks = 3;
  EXPECT_EQ(check(options, Dim3{6}, InCluster{}, C.view()).summary.checked_blocks, 4);
  EXPECT_TRUE(check({}, Dim3{6}, InCluster{}, C.view()).summary.clean);
  EXPECT_EQ(check({}, Dim3{3}, InCluster{}, C.view()).findings.at(0).kind, Kind::impossible_launch);
}

}  // namespace
}  // namespace tessera::check
