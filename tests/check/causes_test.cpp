// One defect, one finding: the cause comes first, what follows from it is not another one; and what
// is an error, a note, or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tessera/check/check.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/check/product.hpp"
#include "tessera/check/suppressions.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const DeviceModel& h200() { return device_model("h200"); }

std::vector<std::string> kinds_of(const Report& report) {
  std::vector<std::string> out;
  for (const Finding& f : report.findings) out.push_back(cat(name(f.severity), " ", name(f.kind)));
  return out;
}

enum class Defect { none, waits_for_too_few, never_waits, no_barrier };

/// A ring of three stages of two tiles each.
template <Defect kDefect>
struct Ring {
  static constexpr const char* name = "ring";
  static constexpr Dim3 block{16, 16};
  static constexpr int T = 16, stages = 3;
  static Dim3 grid(index_t M, index_t N) {
    return {static_cast<int>(N / T), static_cast<int>(M / T)};
  }
  struct Shared {
    Tile<float, T, T> a[stages], b[stages];
  };
  void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    const auto load = [&](index_t k) {
      const auto to = static_cast<std::size_t>(k % stages);
      if (k < tiles<1>(A, T)) {
        copy_async(t, tile<T, T>(A, t.block.y, k), s.a[to].view());
        copy_async(t, tile<T, T>(B, k, t.block.x), s.b[to].view());
      }
      commit(t);
    };
    for (int k = 0; k < stages - 1; ++k) load(k);
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      if constexpr (kDefect == Defect::waits_for_too_few) wait<stages - 1>(t);
      else if constexpr (kDefect != Defect::never_waits) wait<stages - 2>(t);
      if constexpr (kDefect != Defect::no_barrier) t.barrier();
      load(k + stages - 1);
      const auto now = static_cast<std::size_t>(k % stages);
      for (int i = 0; i < T; ++i) acc = fma(s.a[now](y, i), s.b[now](i, x), acc);
    }
    wait<0>(t);
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

template <Defect kDefect>
Report ring(const std::string& known = "") {
  Options options;
  options.suppressions = parse_suppressions(known, "known.txt");
  return check_product<Ring<kDefect>, float>(options, {.m = 32, .n = 32, .k = 112});
}

TEST(Causes, AMissingWaitIsOneFindingHoweverManyTilesAreInTheRing) {
  EXPECT_TRUE(ring<Defect::none>().findings.empty());
  for (const Report& report : {ring<Defect::waits_for_too_few>(), ring<Defect::never_waits>()}) {
    EXPECT_THAT(kinds_of(report), ElementsAre("error async-not-waited")) << to_text(report, h200());
    EXPECT_EQ(report.summary.errors, 1);
    const Finding& f = report.findings[0];
    EXPECT_THAT(f.hint, HasSubstr("wait<0>(t) and a barrier"));
    EXPECT_EQ(f.also.size(), 5u);
    const std::string text = to_text(report, h200());
    EXPECT_THAT(text, HasSubstr(cat("also in ", f.also[0].tensor)));
    EXPECT_THAT(to_json(report, h200()), HasSubstr("\"also\": ["));
    EXPECT_THAT(html_report(report, h200()), HasSubstr(cat("also in ", f.also[0].tensor)));
  }
}

TEST(Causes, AMissingBarrierIsOneRaceForEachPairOfLines) {
  const Report report = ring<Defect::no_barrier>();
  ASSERT_EQ(report.findings.size(), 2u) << to_text(report, h200());
  for (const Finding& f : report.findings) {
    EXPECT_EQ(f.kind, Kind::race);
    EXPECT_EQ(f.also.size(), 2u);
  }
  EXPECT_EQ(report.summary.errors + report.summary.warnings, 2);
}

TEST(Causes, ASuppressionOfOneTileLeavesTheOthers) {
  const Report all = ring<Defect::waits_for_too_few>();
  const Report report =
      ring<Defect::waits_for_too_few>(cat("tensor=\"", all.findings[0].tensor, "\" reason=known"));
  ASSERT_EQ(report.findings.size(), 1u) << to_text(report, h200());
  EXPECT_EQ(report.findings[0].also.size(), 4u);
  EXPECT_NE(report.findings[0].tensor, all.findings[0].tensor);
}

struct Warps {
  static constexpr const char* name = "warps";
  static constexpr Dim3 block{64};
  struct Shared {
    Tile<float, 1, 64> a;
  };
};

template <class Kernel>
Report on_rows(const Kernel& kernel, Options options = {}) {
  std::vector<float> a(64), c(64);
  std::iota(a.begin(), a.end(), 1.0f);
  return check(options, Dim3{1}, kernel,
               tensor<kRowMajorMatrix>(std::as_const(a).data(), 1, 64, 64),
               tensor<kRowMajorMatrix>(c.data(), 1, 64, 64));
}

/// Neither a wait nor a barrier: a barrier alone would mend nothing.
template <bool kWithinAWarp>
struct ReadsACopy : Warps {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    copy_async(t, tile<1, 64>(A, 0, 0), s.a.view());
    commit(t);
    C(0, t.thread) = s.a(0, kWithinAWarp ? t.thread ^ 1 : 63 - t.thread);
    wait<0>(t);
  }
};

TEST(Causes, ACopyThatWasNotWaitedForIsToldAsThat) {
  const Report within = on_rows(ReadsACopy<true>{});
  EXPECT_THAT(kinds_of(within), ElementsAre("error async-not-waited")) << to_text(within, h200());
  // Warps are looked at one after the other: which of them has waited by then says nothing.
  const Report across = on_rows(ReadsACopy<false>{});
  EXPECT_THAT(kinds_of(across), ElementsAre("error race")) << to_text(across, h200());
  EXPECT_THAT(across.findings[0].hint,
              HasSubstr("wait<0>(t) and a barrier belong between the copy"));
}

/// Read before they arrive, and never waited for.
struct NeverWaits : Warps {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    copy_async(t, tile<1, 64>(A, 0, 0), s.a.view());
    commit(t);
    t.barrier();
    C(0, t.thread) = s.a(0, 63 - t.thread);
  }
};

TEST(Causes, ACopyThatIsNeverWaitedForIsOneFinding) {
  const Report report = on_rows(NeverWaits{});
  EXPECT_THAT(kinds_of(report), ElementsAre("error async-not-waited")) << to_text(report, h200());
  EXPECT_EQ(report.summary.errors, 1);
}

/// A sum of a matrix unit without a first value, stored.
struct EmptySum {
  static constexpr const char* name = "empty_sum";
  static constexpr Dim3 block{32};
  void operator()(auto t, auto A, auto C) const {
    using Mma = TensorCore<double, double, MmaShape{16, 8, 16}>;
    typename Mma::FragmentC sum;
    Mma::mma(t, sum, Mma::load_a(t, A), Mma::load_b(t, tile<16, 8>(A, 0, 0)));
    Mma::store_d(t, C, sum);
  }
};

TEST(Causes, ASumWithoutAFirstValueIsOneFinding) {
  std::vector<double> a(256, 1), c(128);
  const Report report =
      check({}, Dim3{1}, EmptySum{}, tensor<row_major(16, 16)>(std::as_const(a).data()),
            tensor<row_major(16, 8)>(c.data()));
  EXPECT_THAT(kinds_of(report), ElementsAre("error uninitialized-read")) << to_text(report, h200());
}

/// Copies of a superstep before are waited for, but only by their own threads.
struct WaitsForItself : Warps {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    copy_async(t, tile<1, 64>(A, 0, 0), s.a.view());
    commit(t);
    t.barrier();
    wait<0>(t);
    C(0, t.thread) = s.a(0, 63 - t.thread);
  }
};

TEST(Causes, ACopyThatItsOwnThreadWaitedForLacksABarrier) {
  const Report report = on_rows(WaitsForItself{});
  EXPECT_THAT(kinds_of(report), ElementsAre("error race")) << to_text(report, h200());
}

/// Lanes 2 i and 2 i + 1 store to one element.
struct StoresTwice : Warps {
  bool alike;
  void operator()(auto t, auto A, auto C) const {
    const float value = alike ? 5.0f : A(0, t.thread);
    C(0, t.thread / 2) = value;
  }
};

/// The same two lanes at two places.
struct StoresInTurn : Warps {
  void operator()(auto t, auto A, auto C) const {
    if (t.thread % 2 == 0) C(0, t.thread / 2) = A(0, t.thread);
    else C(0, t.thread / 2) = A(0, t.thread);
  }
};

TEST(Causes, TwoLanesThatStoreToOneElementByOneInstructionAreAnError) {
  const Report report = on_rows(StoresTwice{{}, false});
  ASSERT_FALSE(report.findings.empty());
  const Finding& f = report.findings[0];
  EXPECT_EQ(f.kind, Kind::race);
  EXPECT_EQ(f.severity, Severity::error);
  EXPECT_THAT(f.problem, HasSubstr("thread (1,0,0) and thread (0,0,0) write B(0,0)"))
      << to_text(report, h200());
  EXPECT_THAT(f.problem, HasSubstr("in one step of their warp"));
  EXPECT_THAT(f.hint, HasSubstr("check the index"));
  EXPECT_EQ(f.count, 32);
}

TEST(Causes, LanesThatStoreInTurnLackABarrierOfTheirWarp) {
  const Report report = on_rows(StoresInTurn{});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].severity, Severity::warning) << to_text(report, h200());
  EXPECT_THAT(report.findings[0].hint, HasSubstr("warp_barrier"));
}

/// All threads count before a barrier; the two races after it are unrelated.
struct CountsBefore : Warps {
  bool at_once;
  void operator()(auto t, auto A, auto C) const {
    t.atomic_add(C(0, 63), 1.0f);
    t.barrier();
    if (at_once) C(0, t.thread / 2) = A(0, t.thread);
    else C(0, t.thread % 32) = A(0, t.thread);
  }
};

TEST(Causes, AnAtomicBeforeABarrierIsNoCauseOfARaceBehindIt) {
  for (const bool at_once : {true, false}) {
    const Report report = on_rows(CountsBefore{{}, at_once});
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings[0].kind, Kind::race);
    EXPECT_THAT(report.findings[0].problem, Not(HasSubstr("fence"))) << to_text(report, h200());
    EXPECT_THAT(report.findings[0].hint,
                ::testing::AllOf(HasSubstr("check the index"), Not(HasSubstr("fence"))));
  }
}

/// The mean of three neighbours, for those that have two.
struct Interior : Warps {
  void operator()(auto t, auto A, auto C) const {
    const int x = t.thread.x;
    if (x >= 2 && x < 62) C(0, x) = (A(0, x - 1) + A(0, x) + A(0, x + 1)) / 3;
  }
};

TEST(Causes, WhatIsNeitherReadNorWrittenIsANoteOrAnErrorAsAsked) {
  const Report report = on_rows(Interior{});
  EXPECT_THAT(kinds_of(report), ElementsAre("note never-read", "note never-written"));
  EXPECT_TRUE(report.summary.clean);
  EXPECT_EQ(exit_code(report.summary), 0);
  const Report strict = on_rows(Interior{}, {.coverage = true});
  EXPECT_THAT(kinds_of(strict), ElementsAre("error never-read", "error never-written"));
  EXPECT_EQ(exit_code(strict.summary), 1);
  EXPECT_EQ(on_rows(Interior{}, {.fresh_outputs = true}).summary.errors, 1);
}

struct Counts : Warps {
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) s.a(0, 0) = 0;
    t.barrier();
    t.atomic_add(s.a(0, 0), A(0, t.thread));
    t.barrier();
    t.atomic_add(C(0, 0), 1.0f);
    if (t.thread == 0) C(0, 1) = s.a(0, 0);
  }
};

TEST(Causes, WhatIsCountedOfAtomicUpdatesIsCalledUnmeasured) {
  const Report report = on_rows(Counts{});
  EXPECT_EQ(report.total.shared_atomic_requests, 2);
  const std::string json = to_json(report, h200());
  EXPECT_THAT(json, HasSubstr("\"counter\": \"shared_atomic_wavefronts\""));
  EXPECT_THAT(json, HasSubstr("\"counter\": \"global_atomic_sectors\""));
  EXPECT_THAT(to_text(report, h200()), HasSubstr("atomic updates are an estimate"));
}

TEST(JUnit, HasACaseForEachFindingWithItsPlace) {
  const Report report = on_rows(StoresInTurn{});
  const std::string junit = to_junit(report);
  const Finding& race = report.findings[0];
  EXPECT_THAT(junit, HasSubstr(cat("tests=\"", report.findings.size(), "\" failures=\"1\"")));
  EXPECT_THAT(
      junit, HasSubstr(cat("file=\"", race.location.file, "\" line=\"", race.location.line, "\"")));
  EXPECT_THAT(junit, HasSubstr("<failure type=\"race\" message=\"thread "));
  EXPECT_THAT(junit, HasSubstr("<system-out>note: never-written"));
  Options options;
  options.suppressions = parse_suppressions("kind=race reason=\"<known>\"", "known.txt");
  const std::string known = to_junit(on_rows(StoresInTurn{}, options));
  EXPECT_THAT(known, HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(known, HasSubstr("<skipped message=\"&lt;known&gt;\"/>"));
  Report unfinished;
  unfinished.kernel = "slow";
  unfinished.summary.clean = false;
  unfinished.summary.incomplete = "time limit";
  EXPECT_THAT(to_junit(unfinished), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
}

}  // namespace
}  // namespace tessera::check
