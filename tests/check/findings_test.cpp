// What findings say: whose element it is, which threads, where, in which superstep; and that two
// defects stay two, and one stays one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "check/report_text.hpp"
#include "tessera/check/check.hpp"
#include "tessera/check/format.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The only finding of a kind.
check::Finding only(const check::Report& report, check::Kind kind) {
  check::Finding out;
  int count = 0;
  for (const auto& f : report.findings)
    if (f.kind == kind) out = f, ++count;
  EXPECT_EQ(count, 1) << text_of(report);
  return out;
}

/// A row of `count` floats, and a kernel for it.
template <class Kernel>
check::Report on_row(const Kernel& kernel, int count, check::Options options = {}) {
  std::vector<float> c(static_cast<std::size_t>(count));
  options.threads = 1;
  return check::check(options, Dim3{1}, kernel, tensor<kRowMajorMatrix>(c.data(), 1, count, count));
}

struct Named {
  static constexpr const char* name = "named";
  static constexpr Dim3 block{64};
};

struct Idle : Named {
  void operator()(auto, auto, auto, auto, auto) const {}
};

TEST(Findings, EachTensorThatIsNotUsedHasItsOwnAndNoBlock) {
  const std::vector<float> in(8);
  std::vector<float> out(8), more(8), most(8);
  const auto row = [](auto* data) { return tensor<kRowMajorMatrix>(data, 1, 8, 8); };
  const check::Report report = check::check({}, Dim3{1}, Idle{}, row(in.data()), row(out.data()),
                                            row(more.data()), row(most.data()));
  std::vector<std::string> unread, unwritten;
  for (const auto& f : report.findings) {
    (f.kind == check::Kind::never_read ? unread : unwritten).push_back(f.tensor);
    EXPECT_EQ(f.block.linear, -1);
    EXPECT_EQ(f.count, 8);
  }
  EXPECT_THAT(unread, ElementsAre("A"));
  EXPECT_THAT(unwritten, ElementsAre("B", "C", "D"));
  EXPECT_THAT(check::to_json(report, check::device_model("h200")), HasSubstr("\"block\": null"));
}

/// One thread moves whole tiles in every way, all wait, and each thread takes a copy of one.
struct WholeTiles : Named {
  struct Shared {
    Tile<float, 1, 64> a, b, stages[2];
  };
  static float at(Tile<float, 1, 64> tile, index_t i) { return tile(0, i); }
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    auto &a = s.a, &b = s.b;
    auto& stages = s.stages;
    a(0, t.thread) = 1;
    stages[1](0, t.thread) = 2;
    t.barrier();
    if (t.thread == 0) {
      b = a;
      stages[0] = stages[1];
      std::swap(b, stages[0]);
    }
    t.barrier();
    const Tile<float, 1, 64> mine = b;
    const auto captured = [=, &t] { return stages[0](0, 63 - t.thread); };
    C(0, t.thread) = at(b, 63 - t.thread) + captured() + mine(0, t.thread);
  }
};

TEST(Findings, WholeTilesAreCopiedElementByElement) {
  const check::Report report = on_row(WholeTiles{}, 64);
  EXPECT_TRUE(report.findings.empty()) << text_of(report);
  // Two tiles are stored by 2 warps each; one thread copies five times; one tile stays in
  // registers.
  EXPECT_EQ(report.total.shared_store_requests, 4 + 4 * 64);
}

/// An unwritten tile is copied.
struct EmptyTile : Named {
  struct Shared {
    Tile<float, 1, 64> a;
  };
  void operator()(auto t, auto C) const {
    Shared mine = shared<Shared>(t);
    mine.a(0, t.thread) = 1;
    t.barrier();
    C(0, t.thread) = mine.a(0, 63 - t.thread);
  }
};

TEST(Findings, ACopyOfAllSharedStorageReadsIt) {
  const auto finding = only(on_row(EmptyTile{}, 64), check::Kind::uninitialized_read);
  EXPECT_EQ(finding.memory, check::Memory::shared);
  EXPECT_EQ(finding.severity, check::Severity::error);
}

struct FromNowhere : Named {
  static constexpr Dim3 block{40};
  void operator()(auto t, auto C) const {
    const int next = t.shuffle_down(int{t.thread}, 8);  // past the end of a whole warp: its own
    const int other = t.shuffle(next, t.warp == 0 ? 31 : 8);
    C(0, t.thread) = static_cast<float>(other);
  }
};

TEST(Findings, AShuffleFromALaneThatTheWarpDoesNotHaveIsNamed) {
  const check::Report report = on_row(FromNowhere{}, 40);
  std::vector<std::string> problems;
  for (const auto& f : report.findings) problems.push_back(f.problem);
  const auto named = HasSubstr("shuffles from lane 8, and its warp has 8 lanes");
  EXPECT_THAT(problems, ElementsAre(named, named)) << text_of(report);
}

struct PlainMembers : Named {
  struct Shared {
    Tile<float, 1, 64> a;
    float plain[4];
  };
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    t.superstep("plain", [&] {
      if (t.thread < 4) s.plain[t.thread] = 1;
      s.a(0, t.thread) = 2;
    });
    C(0, t.thread) = s.plain[t.thread % 4] + s.a(0, 63 - t.thread);
  }
};

TEST(Findings, APlainMemberOfSharedIsNamedByItsByteAndSuperstep) {
  const auto finding = only(on_row(PlainMembers{}, 64), check::Kind::unseen_write);
  EXPECT_THAT(finding.problem, HasSubstr("byte 256 of shared storage changed without an access"));
  EXPECT_EQ(finding.superstep, "plain");
}

/// One thread combines two elements of a row in every way.
struct Combined : Named {
  void operator()(auto t, auto C) const {
    if (t.thread != 0) return;
    C(0, 0) = 4, C(0, 1) = 2;
    C(0, 0) += C(0, 1);
    C(0, 0) *= C(0, 0);
    C(0, 0) -= C(0, 1);
    C(0, 0) /= C(0, 1);
  }
};

TEST(Findings, AnElementIsCombinedWithAnotherAsWithAValue) {
  std::vector<float> c(2);
  check::Options options;
  options.threads = 1;
  const auto C = tensor<kRowMajorMatrix>(c.data(), 1, 2, 2);
  const check::Report report = check::check(options, Dim3{1}, Combined{}, C);
  EXPECT_EQ(c[0], ((4.f + 2) * (4 + 2) - 2) / 2);
  EXPECT_EQ(report.summary.errors, 0) << text_of(report);
  EXPECT_EQ(report.total.global_load_requests, 8);
  EXPECT_EQ(report.total.global_store_requests, 6);
}

struct PartOfAVector : Named {
  struct Shared {
    Tile<float, 1, 8> a;
  };
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread < 6) s.a(0, t.thread) = 1;
    t.barrier();
    if (t.thread != 0) return;
    const Vec<float, 4> four = vectorize<1, 4>(s.a.view())(0, 1);
    C(0, 0) = sum(four);
  }
};

TEST(Findings, OfAWideAccessTheFailingElementIsNamed) {
  const auto f = only(on_row(PartOfAVector{}, 1), check::Kind::uninitialized_read);
  EXPECT_THAT(f.element, ElementsAre(0, 6));
}

struct BesideTheTile : Named {
  struct Shared {
    Tile<float, 4, 4> a;
    Tile<float, 4, 4> b;
  };
  int column;
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) s.b(1, column) = 1;
    if (t.thread == 1) C(0, 3 + column / 100) = 2;
  }
};

TEST(Findings, OutsideOfAViewTensorAndMemoryAreNamed) {
  // Into the next row, and after all shared storage.
  const auto inside = only(on_row(BesideTheTile{{}, 5}, 8), check::Kind::outside_view);
  EXPECT_EQ(inside.memory, check::Memory::shared);
  EXPECT_EQ(inside.tensor, "s.b");
  EXPECT_THAT(inside.element, ElementsAre(1, 5));
  const auto report = on_row(BesideTheTile{{}, 5000}, 8);
  std::vector<std::string> tensors;
  for (const auto& f : report.findings)
    if (f.kind == check::Kind::out_of_bounds) {
      tensors.push_back(cat(name(f.memory), " ", f.tensor));
      EXPECT_THAT(f.problem, HasSubstr(f.tensor));
    }
  EXPECT_THAT(tensors, ::testing::UnorderedElementsAre("shared s.b", "global A"))
      << text_of(report);
}

struct Throws : Named {
  void operator()(auto t, auto C) const {
    t.superstep("load", [&] { C(0, t.thread) = 1; });
    t.superstep("multiply", [&] {
      C(0, t.thread) = 2;
      if (t.thread == 13) throw std::runtime_error("no inverse");
    });
  }
};

TEST(Findings, AThrowHasThreadSuperstepAndLastLineAndNoWordOfTheEngine) {
  const auto f = only(on_row(Throws{}, 64), check::Kind::exception);
  ASSERT_EQ(f.threads.size(), 1u);
  EXPECT_EQ(f.threads[0].linear, 13);
  EXPECT_EQ(f.superstep, "multiply");
  EXPECT_GT(f.location.line, 0);
  EXPECT_THAT(f.problem,
              HasSubstr("thread (13,0,0) threw: no inverse, last seen at findings_test"));
  EXPECT_THAT(f.problem, Not(HasSubstr("kernel named")));
}

struct TwoBarriers : Named {
  int split;  ///< threads from here on take another way
  void operator()(auto t, auto C) const {
    C(0, t.thread) = 1;
    t.barrier();
    for (int i = 0; i < (t.thread < split ? 3 : 2); ++i) t.barrier();
    t.barrier();
  }
};

TEST(Findings, LoopsOfDifferentLengthAreCalledThat) {
  const auto f = only(on_row(TwoBarriers{{}, 40}, 64), check::Kind::diverged_barrier);
  EXPECT_THAT(f.problem, HasSubstr("after 3 barriers that all have passed"));
  EXPECT_THAT(f.problem, Not(HasSubstr("kernel named")));
  EXPECT_THAT(f.hint, HasSubstr("the same number of rounds"));
  EXPECT_EQ(f.superstep, "3");
  ASSERT_EQ(f.threads.size(), 2u);
  EXPECT_NE(f.threads[0].linear < 40, f.threads[1].linear < 40);
  EXPECT_NE(f.location.line, f.other.line);
  EXPECT_GT(f.other.line, 0);
}

struct EndsEarly : Named {
  bool in_loop;
  void operator()(auto t, auto C) const {
    C(0, t.thread) = 1;
    if (in_loop) {
      for (int i = 0; i < (t.thread < 40 ? 2 : 1); ++i) t.barrier();
    } else if (t.thread < 40) {
      t.barrier();
    }
  }
};

TEST(Findings, AnEarlyReturnNamesAThreadOfEachSideAndBothLines) {
  const auto branch = only(on_row(EndsEarly{{}, false}, 64), check::Kind::early_return);
  ASSERT_EQ(branch.threads.size(), 2u);
  EXPECT_EQ(branch.threads[0].linear, 0);
  EXPECT_EQ(branch.threads[1].linear, 40);
  EXPECT_THAT(branch.problem, HasSubstr("24 of 64 threads have ended after 0 barriers"));
  EXPECT_THAT(branch.hint, HasSubstr("not portable"));
  EXPECT_EQ(branch.other.line + 4, branch.location.line);
  const auto loop = only(on_row(EndsEarly{{}, true}, 64), check::Kind::early_return);
  EXPECT_THAT(loop.problem,
              HasSubstr("have ended after 1 barrier (the first: thread (40,0,0), last seen at"));
  EXPECT_THAT(loop.hint, HasSubstr("the same number of rounds"));
  EXPECT_EQ(loop.other.line, loop.location.line);
}

struct Vectors : Named {
  void operator()(auto t, auto C) const {
    if (t.thread < 32) C(0, t.thread + 1) = C(0, 2 * t.thread);
    vectorize<1, 4>(C)(0, t.thread) = Vec<float, 4>::filled(1);
  }
};

TEST(Counters, SectorsDoNotDependOnWhereTheHostHasPutATensor) {
  alignas(256) static float memory[512];
  std::vector<check::Counters> all;
  for (const int start : {0, 4, 8, 28, 60})
    all.push_back(check::check({.threads = 1}, Dim3{1}, Vectors{},
                               tensor<kRowMajorMatrix>(memory + start, 1, 256, 256))
                      .total);
  for (const auto& each : all) EXPECT_EQ(each, all.front());
  EXPECT_EQ(all.front().global_load_sectors, 8);
  const check::Report odd = check::check({.threads = 1}, Dim3{1}, Vectors{},
                                         tensor<kRowMajorMatrix>(memory + 1, 1, 256, 256));
  EXPECT_THAT(only(odd, check::Kind::misaligned).problem, HasSubstr("whose first byte is 4"));
}

/// The rows of one tile are read by their own warp, those of the other by both.
struct TwoTiles : Named {
  struct Shared {
    Tile<float, 2, 32> a, b;
  };
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(t.warp, t.lane) = 1;
    s.b(t.warp, t.lane) = 2;
    C(0, t.thread) = s.a(t.warp, 31 - t.lane) + s.b(1 - t.warp, t.lane);
  }
};

TEST(Findings, OfOneMissingBarrierTheWorstRaceComesFirstAndTheOthersNameIt) {
  const check::Report report = on_row(TwoTiles{}, 64);
  ASSERT_EQ(report.findings.size(), 2u) << text_of(report);
  EXPECT_EQ(report.findings[0].severity, check::Severity::error);
  EXPECT_EQ(report.findings[1].severity, check::Severity::warning);
  EXPECT_THAT(report.findings[1].hint,
              HasSubstr(cat("that the race at line ", report.findings[0].location.line)));
}

/// Two columns of one tile are read at one line.
struct OneBarrierMissing : Named {
  struct Shared {
    Tile<float, 64, 2> a;
  };
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(t.thread, 0) = 1, s.a(t.thread, 1) = 2;
    C(0, t.thread) = s.a(63 - t.thread, 0) + s.a(63 - t.thread, 1);
  }
};

TEST(Findings, OneMissingBarrierIsOneRace) {
  const check::Report report = on_row(OneBarrierMissing{}, 64);
  const auto f = only(report, check::Kind::race);
  EXPECT_EQ(report.findings.size(), 1u) << text_of(report);
  EXPECT_EQ(f.other.line, f.location.line + 1);
  EXPECT_THAT(f.hint, Not(HasSubstr("commit")));
}

}  // namespace
}  // namespace tessera
