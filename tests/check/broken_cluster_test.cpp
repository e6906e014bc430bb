// The ring of a cluster under the checker: silent as it is, and each flaw found with its kind and
// lines, in every order of the threads. And what the barrier of a cluster orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "broken_kernels/cluster_ring.hpp"
#include "named_lines.hpp"
#include "tessera/check/format.hpp"

namespace tessera::broken {
namespace {

using check::Kind;

constexpr ThreadOrder kClusterOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                          ThreadOrder::shuffled, ThreadOrder::late};

struct ClusterFlawCase {
  const char* name;
  ClusterFlaw flaw;
  Kind kind;
  const char *here, *other;  ///< an empty place: any
};
const ClusterFlawCase kClusterFlaws[] = {
    {"no_full_wait", ClusterFlaw::no_full_wait, Kind::bulk_not_awaited, "read", "copy"},
    {"no_free_wait", ClusterFlaw::no_free_wait, Kind::stage_reused, "copy", "copy"},
    {"arrive_before_read", ClusterFlaw::arrive_before_read, Kind::stage_reused, "copy", "read"},
    {"own_arrivals_only", ClusterFlaw::own_arrivals_only, Kind::gate_arrivals, "open_free",
     "arrive"},
    {"free_count_of_one_block", ClusterFlaw::free_count_of_one_block, Kind::gate_arrivals, "arrive",
     "open_free"},
    {"expects_own_part", ClusterFlaw::expects_own_part, Kind::gate_bytes, "expect", "copy"},
    {"parity_constant", ClusterFlaw::parity_constant, Kind::gate_phase, "full_wait", "copy"},
    {"block_barrier_behind_open", ClusterFlaw::block_barrier_behind_open, Kind::gate_arrivals, "",
     ""},
    {"no_publish", ClusterFlaw::no_publish, Kind::gate_arrivals, "copy", "open"},
    {"no_last_meeting", ClusterFlaw::no_last_meeting, Kind::cluster_exit, "arrive", ""},
    {"one_copy_too_many", ClusterFlaw::one_copy_too_many, Kind::cluster_exit, "last_copy", ""},
};

check::Options cluster_options(ThreadOrder order, std::uint64_t seed) {
  check::Options out;
  out.order = order, out.seed = seed;
  out.tensors = {"in", "out"};
  out.coverage = out.fresh_outputs = true;
  return out;
}

std::string cluster_text(const check::Report& report) {
  return check::to_text(report, check::device_model("h200"));
}

TEST(ClusterRing, IsCleanAndRightInEveryOrder) {
  for (const auto order : kClusterOrders) {
    for (const std::uint64_t seed : {0, 3, 8}) {
      const auto report = checked_cluster(ClusterFlaw::none, cluster_options(order, seed));
      EXPECT_TRUE(report.findings.empty()) << name(order) << "\n" << cluster_text(report);
      EXPECT_EQ(report.summary.checked_blocks, ClusterSums::blocks);
      EXPECT_TRUE(is_cluster_right(ClusterFlaw::none, order, seed)) << name(order);
      for (const auto& each : report.coverage)
        EXPECT_EQ(each.is_output ? each.written_once : each.read, each.elements) << each.tensor;
    }
  }
}

class ClusterRingFlaw : public ::testing::TestWithParam<ClusterFlawCase> {};

TEST_P(ClusterRingFlaw, IsFoundWithKindAndLinesInEveryOrder) {
  const ClusterFlawCase& wanted = GetParam();
  auto lines = named_lines(std::string(kClusterRingFile));
  const int here = lines[wanted.here], other = lines[wanted.other];
  for (const auto order : kClusterOrders) {
    const auto report = checked_cluster(wanted.flaw, cluster_options(order, 3));
    bool found = false;
    EXPECT_EQ(report.findings.size(), 1u) << name(order) << "\n" << cluster_text(report);
    for (const auto& each : report.findings) {
      EXPECT_EQ(each.kind, wanted.kind) << name(order) << "\n" << cluster_text(report);
      const bool is_it = each.kind == wanted.kind && (here == 0 || each.location.line == here) &&
                         (other == 0 || each.other.line == other);
      if (!is_it) continue;
      found = true;
      EXPECT_EQ(each.severity, check::Severity::error);
      EXPECT_FALSE(each.problem.empty());
      EXPECT_FALSE(each.hint.empty());
    }
    EXPECT_TRUE(found) << "wanted " << check::name(wanted.kind) << " at line " << here << " with "
                       << other << " in order " << name(order) << "\n"
                       << cluster_text(report);
  }
}

INSTANTIATE_TEST_SUITE_P(Flaws, ClusterRingFlaw, ::testing::ValuesIn(kClusterFlaws),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ClusterFlaws, GiveWrongNumbersInTheOrderLate) {
  for (const ClusterFlaw flaw :
       {ClusterFlaw::no_full_wait, ClusterFlaw::no_free_wait, ClusterFlaw::arrive_before_read}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      EXPECT_FALSE(is_cluster_right(flaw, ThreadOrder::late, seed))
          << static_cast<int>(flaw) << ", seed " << seed;
  }
}

/// A copy into another block names the copying block and the owner of the memory.
TEST(ClusterFlaws, NameBothBlocks) {
  using ::testing::AnyOf;
  using ::testing::HasSubstr;
  const auto options = cluster_options(ThreadOrder::forward, 0);
  const auto report = checked_cluster(ClusterFlaw::one_copy_too_many, options);
  ASSERT_FALSE(report.findings.empty());
  const auto& first = report.findings.front();
  EXPECT_EQ(first.kind, Kind::cluster_exit);
  EXPECT_EQ(first.block.linear % 2, 0);
  EXPECT_THAT(first.problem, AnyOf(HasSubstr("starts a bulk copy into block (1,0,0)"),
                                   HasSubstr("starts a bulk copy into block (3,0,0)")));
}

/// Each block copies a part of a tile into both, and reads the whole; or both copy the same part.
struct SharesTile {
  static constexpr const char* name = "shares_tile";
  static constexpr Dim3 block{32}, cluster{2};
  using Whole = OperandTile<float, 16, 32>;
  using Part = OperandTile<float, 8, 32>;
  struct Shared {
    unsigned char before[1024];
    Whole tile;
    Gate full;
  };
  bool waits = true, is_own_part = true;

  void operator()(auto t, const BulkMatrix<Part>& in, auto out) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.full, 1);
      publish_gates(t);
    }
    cluster_barrier(t);
    const int rank = t.cluster_rank(), part = is_own_part ? rank : 1;
    if (t.thread == 0) {
      expect(t, s.full, Whole::bytes);
      copy_bulk(t, tile<8, 32>(in, rank, 0), share<8>(s.tile, part), s.full, 0b11u);
    }
    if (waits) wait(t, s.full, 0);
    if (is_own_part) out(t.block, t.thread) = s.tile.k_major.view()(8 + t.thread % 8, 4);
    if (!waits) wait(t, s.full, 0);
    cluster_barrier(t);
  }
};

check::Report shared_tile(const SharesTile& kernel, ThreadOrder order) {
  alignas(64) float in[16 * 32] = {}, out[2 * 32] = {};
  const BulkMatrix<SharesTile::Part> from{
      software_map(bulk_fields<SharesTile::Part::KMajor>(in, 16, 32, 32, 1)), 16, 32};
  auto options = cluster_options(order, 1);
  options.coverage = options.fresh_outputs = false;
  return check::check(options, Dim3{2}, kernel, from,
                      tensor<kRowMajorMatrix>(static_cast<float*>(out), 2, 32, 32));
}

/// Tile, element and rank, also of the part that only another block copies and nobody reads.
TEST(ClusterFlaws, NameTileElementAndRank) {
  using ::testing::ContainsRegex;
  for (const auto order : kClusterOrders) {
    EXPECT_TRUE(shared_tile({}, order).findings.empty()) << name(order);
    for (const SharesTile& flaw : {SharesTile{.waits = false}, SharesTile{.is_own_part = false}}) {
      const auto report = shared_tile(flaw, order);
      ASSERT_FALSE(report.findings.empty()) << name(order);
      const auto& first = report.findings.front();
      EXPECT_EQ(first.kind, flaw.waits ? Kind::stage_reused : Kind::bulk_not_awaited);
      EXPECT_EQ(first.element.size(), 2u) << cluster_text(report);
      EXPECT_THAT(first.problem,
                  ContainsRegex(R"(element \([0-9]+,[0-9]+\) of (a part of )?s\.tile)"));
      if (flaw.waits) {
        EXPECT_THAT(first.problem, ContainsRegex("in the block of rank [01] of its cluster"));
      }
    }
  }
}

/// Blocks of a cluster exchange numbers in global memory, in two halves of a barrier.
struct ExchangesNumbers {
  static constexpr const char* name = "exchanges_numbers";
  static constexpr Dim3 block{64}, cluster{2};
  bool waits = true;

  void operator()(auto t, auto in, auto out) const {
    for (int round = 0; round < 3; ++round) {
      in(t.block, t.thread) = static_cast<float>(round);
      cluster_arrive(t);
      if (waits) cluster_wait(t);
      out(t.block, t.thread) = in(t.block ^ 1, 63 - t.thread);
      if (!waits) cluster_wait(t);
      cluster_barrier(t);
    }
  }
};

std::vector<Kind> errors_of_exchange(const ExchangesNumbers& kernel, ThreadOrder order) {
  float in[4 * 64], out[4 * 64];
  auto options = cluster_options(order, 1);
  options.fresh_outputs = false;
  const auto report = check::check(options, Dim3{4}, kernel,
                                   tensor<kRowMajorMatrix>(static_cast<float*>(in), 4, 64, 64),
                                   tensor<kRowMajorMatrix>(static_cast<float*>(out), 4, 64, 64));
  std::vector<Kind> kinds;
  for (const auto& each : report.findings) {
    if (each.severity == check::Severity::error) kinds.push_back(each.kind);
  }
  return kinds;
}

TEST(ClusterBarrier, OrdersWhatBlocksWriteToGlobalMemory) {
  for (const auto order : kClusterOrders) {
    EXPECT_THAT(errors_of_exchange(ExchangesNumbers{}, order), ::testing::IsEmpty()) << name(order);
    EXPECT_THAT(errors_of_exchange(ExchangesNumbers{false}, order), ::testing::Contains(Kind::race))
        << name(order);
  }
}

/// A block that fails ends its cluster; what the others have not done is no finding.
struct Throws {
  static constexpr const char* name = "throws_in_cluster";
  static constexpr Dim3 block{32}, cluster{2};
  void operator()(auto t, auto C) const {
    cluster_barrier(t);
    if (t.block == 1 && t.thread == 5) throw Error(Category::shape, "it is too large");
    cluster_barrier(t);
    C(t.block, t.thread) = 1.0f;
  }
};

TEST(ClusterFlaws, AnErrorOfOneBlockIsOneFinding) {
  for (const auto order : kClusterOrders) {
    float c[2 * 32] = {};
    auto options = cluster_options(order, 1);
    options.coverage = false;
    const auto report = check::check(options, Dim3{2}, Throws{},
                                     tensor<kRowMajorMatrix>(static_cast<float*>(c), 2, 32, 32));
    ASSERT_EQ(report.findings.size(), 1u) << cluster_text(report);
    EXPECT_EQ(report.findings[0].kind, Kind::exception);
  }
}

/// A time limit ends a cluster, whichever of its blocks does not come to an end.
struct LoopsForEver {
  static constexpr const char* name = "loops_for_ever";
  static constexpr Dim3 block{32}, cluster{2};
  void operator()(auto t, auto C) const {
    if (t.block % 2 == 1 && t.thread == 3) {
      volatile int zero = 0;
      while (zero == 0) {
      }
    }
    cluster_barrier(t);
    C(t.block, t.thread) = 1.0f;
  }
};

TEST(ClusterFlaws, ATimeLimitEndsACluster) {
  float c[2 * 32] = {};
  auto options = cluster_options(ThreadOrder::forward, 1);
  options.coverage = false;
  options.time_limit_s = 0.2;
  const auto report = check::check(options, Dim3{2}, LoopsForEver{},
                                   tensor<kRowMajorMatrix>(static_cast<float*>(c), 2, 32, 32));
  EXPECT_TRUE(report.summary.timed_out);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, Kind::endless) << cluster_text(report);
}

}  // namespace
}  // namespace tessera::broken
