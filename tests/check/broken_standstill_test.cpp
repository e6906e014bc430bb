// Blocks in which no thread can continue: the finding is the wait that the others depend on, in
// every order of the threads, and nothing that follows from it. Lines that findings name end with
// "// at" and a name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "check/report_text.hpp"
#include "named_lines.hpp"
#include "tessera/check/check.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/gate.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera::broken {
namespace {

using check::Kind;
using ::testing::HasSubstr;

constexpr ThreadOrder kStandstillOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                             ThreadOrder::shuffled, ThreadOrder::late};

enum class Halt {
  none,
  skips_a_block,
  arrives_at_itself,
  no_full_wait,
  no_free_wait,
  no_last_meeting,
  half_a_last_meeting,
  expects_half
};

/// The first block of a cluster loads each tile into all four; each adds up some of its rows.
struct LoadsForAll {
  static constexpr const char* name = "loads_for_all";
  static constexpr Dim3 block{64}, cluster{4};
  static constexpr int rounds = 5;
  using Numbers = UnitTile<float, row_major(32, 32)>;
  struct Shared {
    Numbers tiles[2];
    Gate full[2], free[2];
  };
  Halt halt = Halt::none;

  bool is(Halt which) const { return halt == which; }

  void operator()(auto t, const BulkMatrix<Numbers>& in, auto out) const {
    auto& s = shared<Shared>(t);
    const int rank = t.cluster_rank();
    if (t.thread == 0) {
      for (auto& gate : s.full) open_gate(t, gate, 1);
      for (auto& gate : s.free) open_gate(t, gate, 4);  // at open_free
      publish_gates(t);
    }
    cluster_barrier(t);
    if (t.warp == 1) load(t, s, rank, in);
    else add(t, s, rank, out);
    t.warp_barrier();
    if (is(Halt::no_last_meeting)) return;
    cluster_arrive(t);
    if (!is(Halt::half_a_last_meeting)) cluster_wait(t);
  }

 private:
  void load(auto t, auto& s, int rank, const auto& in) const {
    Turn<2> turn;
    for (int i = 0; i < rounds && t.lane == 0; ++i, turn.next()) {
      if (rank == 0 && !is(Halt::no_free_wait)) wait(t, s.free[turn.stage], turn.before());
      if (rank != 0 && i >= 2) wait(t, s.full[turn.stage], turn.before());
      const int bytes = is(Halt::expects_half) ? Numbers::bytes / 2 : Numbers::bytes;
      expect(t, s.full[turn.stage], bytes);  // at expect
      const unsigned blocks = is(Halt::skips_a_block) ? 0b0111u : 0b1111u;
      const auto from = tile<32, 32>(in, i, 0);
      auto& full = s.full[turn.stage];
      if (rank == 0) copy_bulk(t, from, s.tiles[turn.stage], full, blocks);  // at copy
    }
  }

  void add(auto t, auto& s, int rank, auto out) const {
    Turn<2> turn;
    float sum = 0;
    for (int i = 0; i < rounds; ++i, turn.next()) {
      if (!is(Halt::no_full_wait)) wait(t, s.full[turn.stage], turn.phase);
      const auto numbers = s.tiles[turn.stage].view();
      for (int row = 0; row < 8; ++row) sum += numbers(rank * 8 + row, t.lane);  // at read
      t.warp_barrier();
      if (t.lane == 0)
        arrive(t, s.free[turn.stage], is(Halt::arrives_at_itself) ? rank : 0);  // at arrive
    }
    out(t.block, t.lane) = sum;
  }
};

check::Report halted(Halt halt, ThreadOrder order, std::uint64_t seed) {
  constexpr int rows = 32 * LoadsForAll::rounds;
  alignas(64) static float in[rows * 32];
  std::iota(std::begin(in), std::end(in), 0.f);
  float out[4 * 32];
  using Numbers = LoadsForAll::Numbers;
  const BulkMatrix<Numbers> from{software_map(bulk_fields<Numbers>(in, rows, 32, 32, 1)), rows, 32};
  check::Options options;
  options.order = order, options.seed = seed;
  return check::check(options, Dim3{4}, LoadsForAll{halt}, from,
                      tensor<kRowMajorMatrix>(static_cast<float*>(out), 4, 32, 32));
}

struct HaltCase {
  const char* name;
  Halt halt;
  Kind kind;
  const char *here, *other;
};
class Standstill : public ::testing::TestWithParam<HaltCase> {};

TEST_P(Standstill, IsOneFindingWithItsCauseInEveryOrder) {
  const HaltCase& wanted = GetParam();
  auto lines = named_lines(__FILE__);
  const int here = lines[wanted.here], other = lines[wanted.other];
  ASSERT_GT(here, 0) << wanted.here;
  for (const auto order : kStandstillOrders) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto report = halted(wanted.halt, order, seed);
      ASSERT_EQ(report.findings.size(), 1u) << name(order) << "\n" << text_of(report);
      const auto& found = report.findings[0];
      EXPECT_EQ(found.kind, wanted.kind) << name(order) << "\n" << text_of(report);
      EXPECT_EQ(found.location.line, here) << name(order) << "\n" << text_of(report);
      if (other > 0) {
        EXPECT_EQ(found.other.line, other) << name(order) << "\n" << text_of(report);
      }
      EXPECT_LT(found.problem.size(), 900u) << found.problem;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Clusters, Standstill,
    ::testing::ValuesIn({
        HaltCase{"skips_a_block", Halt::skips_a_block, Kind::gate_bytes, "expect", ""},
        HaltCase{"arrives_at_itself", Halt::arrives_at_itself, Kind::gate_arrivals, "open_free",
                 "arrive"},
        HaltCase{"no_full_wait", Halt::no_full_wait, Kind::bulk_not_awaited, "read", ""},
        HaltCase{"no_free_wait", Halt::no_free_wait, Kind::stage_reused, "copy", ""},
        HaltCase{"no_last_meeting", Halt::no_last_meeting, Kind::cluster_exit, "arrive", ""},
        HaltCase{"half_a_last_meeting", Halt::half_a_last_meeting, Kind::cluster_exit, "arrive",
                 ""},
        HaltCase{"expects_half", Halt::expects_half, Kind::gate_bytes, "expect", "copy"},
    }),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Standstill, NeverComesToACorrectCluster) {
  for (const auto order : kStandstillOrders) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto report = halted(Halt::none, order, seed);
      EXPECT_TRUE(report.findings.empty()) << name(order) << "\n" << text_of(report);
    }
  }
}

/// The timeline has the bytes that another block brings.
TEST(Timeline, HasTheBytesOfCopiesFromOtherBlocks) {
  const auto report = halted(Halt::none, ThreadOrder::forward, 0);
  ASSERT_FALSE(report.gate_phases.empty());
  for (const auto& each : report.gate_phases)
    EXPECT_EQ(each.bytes, LoadsForAll::Numbers::bytes) << each.gate << " " << each.phase;
}

/// Two warpgroups whose first threads load; the second one's barrier waits for too many.
struct MeetsTooMany {
  static constexpr const char* name = "meets_too_many";
  static constexpr Dim3 block{128};
  using Numbers = UnitTile<float, row_major(16, 32)>;
  struct Shared {
    Numbers tiles[2];
    Gate full[2], free[2];
  };
  int count = 64;  ///< that the barrier of the second half waits for

  void operator()(auto t, const BulkMatrix<Numbers>& in, auto out) const {
    auto& s = shared<Shared>(t);
    open_gates(t, s.full, s.free, 2);
    if (t.thread == 0) publish_gates(t);
    t.barrier();
    const bool leads = t.thread % 64 == 0;
    Turn<2> turn, ahead;
    float sum = 0;
    for (int i = 0; i < 6; ++i, turn.next()) {
      if (t.thread == 0) {
        wait(t, s.free[ahead.stage], ahead.before());
        expect(t, s.full[ahead.stage], Numbers::bytes);
        copy_bulk(t, tile<16, 32>(in, i, 0), s.tiles[ahead.stage], s.full[ahead.stage]);
        ahead.next();
      }
      if (leads) wait(t, s.full[turn.stage], turn.phase);
      if (t.thread < 64) meet<1>(t, 64);
      else meet<2>(t, 64);
      sum += s.tiles[turn.stage].view()(t.thread % 16, t.thread / 16);
      if (t.thread < 64) meet<1>(t, 64);
      else if (i == 3) meet<2>(t, count);  // at meet
      else meet<2>(t, 64);
      if (leads) arrive(t, s.free[turn.stage]);
    }
    out(0, t.thread) = sum;
  }
};

TEST(Standstill, OfANamedBarrierIsNotThatOfAGate) {
  using Numbers = MeetsTooMany::Numbers;
  alignas(64) static float in[6 * 16 * 32] = {};
  float out[128];
  const BulkMatrix<Numbers> from{software_map(bulk_fields<Numbers>(in, 6 * 16, 32, 32, 1)), 6 * 16,
                                 32};
  auto lines = named_lines(__FILE__);
  for (const auto order : kStandstillOrders) {
    check::Options options;
    options.order = order, options.seed = 1;
    const auto report_of = [&](int count) {
      return check::check(options, Dim3{1}, MeetsTooMany{count}, from,
                          tensor<kRowMajorMatrix>(static_cast<float*>(out), 1, 128, 128));
    };
    EXPECT_TRUE(report_of(64).findings.empty()) << name(order) << "\n" << text_of(report_of(64));
    const auto report = report_of(128);
    ASSERT_EQ(report.findings.size(), 1u) << name(order) << "\n" << text_of(report);
    const auto& found = report.findings[0];
    EXPECT_EQ(found.kind, Kind::missing_barrier) << text_of(report);
    EXPECT_EQ(found.location.line, lines["meet"]) << text_of(report);
    EXPECT_THAT(found.problem, HasSubstr("64 of 128 threads wait at barrier 2, which waits for "
                                         "128 threads"));
    EXPECT_THAT(found.problem, HasSubstr("barrier 2 lacks 64 threads"));
    EXPECT_THAT(found.hint, HasSubstr("as many threads"));
  }
}

}  // namespace
}  // namespace tessera::broken
