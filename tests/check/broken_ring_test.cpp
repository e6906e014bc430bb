// The ring of gates, bulk copies and products under the checker: silent as it is, and each flaw
// found with its kind and lines, in every order of the threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "broken_kernels/ring.hpp"
#include "named_lines.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera::broken {
namespace {

using check::Kind;

constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                   ThreadOrder::shuffled, ThreadOrder::late};

/// One flaw, and what the checker must say of it. An empty place: any.
struct FlawCase {
  const char* name;
  Flaw flaw;
  Kind kind;
  const char *here, *other;
  Kind beside = kind;  ///< another error that it is
};
const FlawCase kFlaws[] = {
    {"no_full_wait", Flaw::no_full_wait, Kind::bulk_not_awaited, "product", "copy"},
    {"full_wait_behind_mma", Flaw::full_wait_behind_mma, Kind::bulk_not_awaited, "product", "copy"},
    {"no_full_wait_of_b", Flaw::no_full_wait_of_b, Kind::bulk_not_awaited, "product", "copy_b"},
    {"parity_constant", Flaw::parity_constant, Kind::gate_phase, "full_wait", "copy"},
    {"reader_stays", Flaw::reader_stays, Kind::gate_phase, "full_wait", "copy"},
    {"loader_stays", Flaw::loader_stays, Kind::gate_phase, "free_wait", "copy"},
    {"phase_apart", Flaw::phase_apart, Kind::gate_phase, "full_wait", "copy"},
    {"no_free_wait", Flaw::no_free_wait, Kind::stage_reused, "copy", "copy"},
    {"arrive_before_wait_mma", Flaw::arrive_before_wait_mma, Kind::stage_reused, "copy", "product"},
    {"arrive_at_other_stage", Flaw::arrive_at_other_stage, Kind::stage_reused, "copy", "product"},
    {"no_fence", Flaw::no_fence, Kind::missing_async_fence, "store", "put"},
    {"fence_behind_barrier", Flaw::fence_behind_barrier, Kind::missing_async_fence, "store", "put"},
    {"no_wait_mma", Flaw::no_wait_mma, Kind::mma_not_awaited, "put", "product"},
    {"mma_without_fence", Flaw::mma_without_fence, Kind::mma_unordered, "unfenced_product", ""},
    {"warp_leaves_early", Flaw::warp_leaves_early, Kind::mma_unordered, "product", "product"},
    {"expects_clipped", Flaw::expects_clipped, Kind::gate_bytes, "expect", "copy"},
    {"copy_forgotten", Flaw::copy_forgotten, Kind::gate_bytes, "expect_b", "full_wait_b"},
    {"arrive_per_warp", Flaw::arrive_per_warp, Kind::gate_arrivals, "arrive", "open_free"},
    {"free_count_too_small", Flaw::free_count_too_small, Kind::gate_arrivals, "arrive",
     "open_free"},
    {"free_count_too_large", Flaw::free_count_too_large, Kind::gate_arrivals, "open_free",
     "arrive"},
    {"no_barrier_behind_open", Flaw::no_barrier_behind_open, Kind::gate_arrivals, "free_wait", "",
     Kind::mma_unordered},
    {"no_publish", Flaw::no_publish, Kind::gate_arrivals, "copy", "open"},
    {"never_waits_mma", Flaw::never_waits_mma, Kind::mma_not_awaited, "put", "product"},
    {"meets_too_late", Flaw::meets_too_late, Kind::race, "put", "store"},
    {"no_commit", Flaw::no_commit, Kind::source_overwritten, "put", "store"},
    {"no_last_commit", Flaw::no_last_commit, Kind::store_never_awaited, "store", ""},
    {"no_wait_bulk_read", Flaw::no_wait_bulk_read, Kind::source_overwritten, "put", "store"},
    {"no_wait_bulk", Flaw::no_wait_bulk, Kind::store_never_awaited, "store", ""},
    {"reads_stored", Flaw::reads_stored, Kind::store_never_awaited, "read", "store"},
    {"no_expect", Flaw::no_expect, Kind::stuck, "full_wait", ""},
    {"copy_within_chunk", Flaw::copy_within_chunk, Kind::misaligned, "copy", ""},
    {"store_within_chunk", Flaw::store_within_chunk, Kind::misaligned, "store", ""},
};

check::Options options_of(ThreadOrder order, std::uint64_t seed) {
  check::Options out;
  out.order = order, out.seed = seed;
  out.tensors = {"A", "B", "C"};
  out.coverage = out.fresh_outputs = true;
  return out;
}

std::string text_of(const check::Report& report) {
  return check::to_text(report, check::device_model("h200"));
}

TEST(Ring, IsCleanAndRightInEveryOrder) {
  for (const auto order : kOrders) {
    for (const std::uint64_t seed : {0, 3, 8}) {
      const auto report = checked_ring(Flaw::none, options_of(order, seed));
      EXPECT_TRUE(report.findings.empty()) << name(order) << "\n" << text_of(report);
      EXPECT_TRUE(is_ring_right(Flaw::none, order, seed)) << name(order);
      for (const auto& each : report.coverage)
        EXPECT_EQ(each.is_output ? each.written_once : each.read, each.elements) << each.tensor;
    }
  }
}

class RingFlaw : public ::testing::TestWithParam<FlawCase> {};

TEST_P(RingFlaw, IsFoundWithKindAndLinesInEveryOrder) {
  const FlawCase& wanted = GetParam();
  auto lines = named_lines(std::string(kRingFile));
  const int here = lines[wanted.here], other = lines[wanted.other];
  ASSERT_GT(here, 0) << wanted.here;
  for (const auto order : kOrders) {
    const auto report = checked_ring(wanted.flaw, options_of(order, 3));
    bool found = false;
    // Of a wrong phase both waits, for A and for B, are findings.
    if (wanted.beside == wanted.kind) {
      EXPECT_LE(report.summary.errors + report.summary.warnings,
                wanted.kind == Kind::gate_phase ? 2 : 1)
          << name(order) << "\n"
          << text_of(report);
    }
    for (const auto& each : report.findings) {
      EXPECT_TRUE(each.kind == wanted.kind || each.kind == wanted.beside ||
                  each.severity == check::Severity::note)
          << name(order) << "\n"
          << text_of(report);
      const bool is_it = each.kind == wanted.kind && each.location.line == here &&
                         (other == 0 || each.other.line == other);
      if (!is_it) continue;
      found = true;
      EXPECT_EQ(each.severity, check::Severity::error);
      EXPECT_FALSE(each.problem.empty());
      EXPECT_FALSE(each.hint.empty());
      // Findings about bytes of shared storage name tile and element.
      if (each.tensor.starts_with("s.")) {
        EXPECT_EQ(each.element.size(), 2u) << text_of(report);
      }
    }
    EXPECT_TRUE(found) << "wanted " << check::name(wanted.kind) << " at line " << here << " with "
                       << other << " in order " << name(order) << "\n"
                       << text_of(report);
    EXPECT_FALSE(report.summary.clean);
  }
}

INSTANTIATE_TEST_SUITE_P(Flaws, RingFlaw, ::testing::ValuesIn(kFlaws),
                         [](const auto& each) { return std::string(each.param.name); });

/// The wait is there; what is missing is the end of the group that it waits for.
TEST(RingFlaws, AMissingCommitIsNamed) {
  for (const Flaw flaw : {Flaw::no_commit, Flaw::no_last_commit}) {
    const auto report = checked_ring(flaw, options_of(ThreadOrder::forward, 0));
    ASSERT_FALSE(report.findings.empty());
    for (const auto& each : report.findings)
      EXPECT_THAT(each.hint, ::testing::HasSubstr("commit_bulk(t)")) << text_of(report);
  }
}

/// Of a product for which no thread ever waits, the stage that it reads is not another finding; of
/// one that is waited for after its stage is freed, it is.
TEST(RingFlaws, AProductWithoutAWaitIsToldWithWhatItHolds) {
  const auto hint_of = [](Flaw flaw) {
    const auto found = checked_ring(flaw, options_of(ThreadOrder::forward, 0)).findings;
    return found.empty() ? std::string() : found.front().hint;
  };
  EXPECT_THAT(hint_of(Flaw::never_waits_mma), ::testing::HasSubstr("arrive(t, gate)"));
  EXPECT_THAT(hint_of(Flaw::no_wait_mma), ::testing::HasSubstr("and this access"));
  EXPECT_THAT(hint_of(Flaw::arrive_before_wait_mma),
              ::testing::AllOf(::testing::HasSubstr("wait_mma<N>(t) until the product is done"),
                               ::testing::HasSubstr("then arrive(t, gate)")));
}

/// Gates and tiles have one name everywhere, with their index in an array.
TEST(RingFlaws, NameGatesAndTilesAsTheSourceDoes) {
  const auto first_of = [](Flaw flaw) {
    const auto report = checked_ring(flaw, options_of(ThreadOrder::forward, 0));
    return report.findings.empty() ? check::Finding{} : report.findings.front();
  };
  for (const auto& [flaw, tile] : {std::pair{Flaw::no_full_wait, "s.a[0]"},
                                   {Flaw::arrive_before_wait_mma, "s.a[0]"},
                                   {Flaw::no_full_wait_of_b, "s.b[0]"},
                                   {Flaw::no_fence, "s.slices[0]"}}) {
    const auto found = first_of(flaw);
    EXPECT_EQ(found.tensor, tile) << found.problem;
    EXPECT_THAT(found.problem, ::testing::HasSubstr(tile));
    EXPECT_EQ(found.element.size(), 2u) << found.problem;
  }
  const auto arrivals =
      checked_ring(Flaw::arrive_per_warp, options_of(ThreadOrder::forward, 0)).findings;
  EXPECT_TRUE(std::any_of(arrivals.begin(), arrivals.end(), [](const auto& each) {
    return each.kind == Kind::gate_arrivals &&
           each.problem.find("gate s.free[0]") != std::string::npos;
  }));
  const auto clean = checked_ring(Flaw::none, options_of(ThreadOrder::forward, 0));
  const std::string page = check::html_report(clean, check::device_model("h200"));
  for (const char* gate :
       {">gate s.full[0]<", ">gate s.full[1]<", ">gate s.full_b[0]<", ">gate s.full_b[1]<"})
    EXPECT_THAT(page, ::testing::HasSubstr(gate));
}

/// A missing wait shows in the numbers, where a GPU gives right ones most days.
TEST(RingFlaws, GiveWrongNumbersInTheOrderLate) {
  for (const Flaw flaw :
       {Flaw::no_full_wait, Flaw::arrive_before_wait_mma, Flaw::no_fence, Flaw::no_wait_mma})
    EXPECT_TRUE(is_ring_right(flaw, ThreadOrder::forward, 0)) << static_cast<int>(flaw);
  for (const Flaw flaw :
       {Flaw::no_full_wait, Flaw::full_wait_behind_mma, Flaw::no_full_wait_of_b, Flaw::no_free_wait,
        Flaw::arrive_before_wait_mma, Flaw::arrive_at_other_stage, Flaw::no_fence,
        Flaw::no_wait_mma, Flaw::no_wait_bulk_read, Flaw::no_wait_bulk, Flaw::no_commit}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      EXPECT_FALSE(is_ring_right(flaw, ThreadOrder::late, seed))
          << static_cast<int>(flaw) << ", seed " << seed;
  }
}

/// Six times a tile of A, 128 rows of 32 bytes, and one of B, 16 rows; four slices of C, 64 rows.
TEST(RingCounters, CountBoxesSectorsAndOperands) {
  for (const bool correctness : {true, false}) {
    auto options = options_of(ThreadOrder::forward, 0);
    options.correctness = correctness;
    const auto c = checked_ring(Flaw::none, options).total;
    EXPECT_EQ(c.bulk_copies, 6 * 2);
    EXPECT_EQ(c.bulk_copy_sectors, 6 * (128 + 16));
    EXPECT_EQ(c.bulk_copy_bytes, 6 * (128 + 16) * 32);
    EXPECT_EQ(c.bulk_stores, 4);
    EXPECT_EQ(c.bulk_store_sectors, 4 * 64);
    EXPECT_EQ(c.bulk_store_bytes, 4 * 64 * 32);
    EXPECT_EQ(c.unit_operands, 2 * 6 * 2);
    EXPECT_EQ(c.unit_operand_wavefronts, 2 * 6 * (64 + 16) * 32 / 128);
    EXPECT_EQ(c.unit_operand_wavefronts, c.unit_operand_wavefronts_ideal);
    EXPECT_EQ(c.mma_instructions, 8 * 6);  // of eight warps
    EXPECT_EQ(c.mma_flops, 2 * 128 * 16 * RingProduct::K);
  }
}

/// Of rows beyond the last no sector is read, and their zeros are written.
TEST(RingCounters, CountWholeBoxesInSharedMemory) {
  const auto c = checked_ring(Flaw::expects_clipped, options_of(ThreadOrder::forward, 0)).total;
  EXPECT_EQ(c.bulk_copy_bytes % 32, 0);
  EXPECT_LT(c.bulk_copy_sectors * 32, c.bulk_copy_bytes);
}

TEST(RingCounters, NameTheStagesInFlight) {
  const auto report = checked_ring(Flaw::none, options_of(ThreadOrder::forward, 0));
  ASSERT_EQ(report.gate_phases.size(), 12u);  // of two gates for each of six steps
  std::map<int, std::int64_t> next;
  for (const auto& each : report.gate_phases) {
    EXPECT_EQ(each.phase, next[each.gate]++);
    EXPECT_GT(each.awaited, each.started);
    EXPECT_TRUE(each.bytes == Ring::TileA::bytes || each.bytes == Ring::TileB::bytes);
  }
  const std::string page = check::html_report(report, check::device_model("h200"));
  EXPECT_THAT(page, ::testing::HasSubstr("Stages in flight"));
  EXPECT_THAT(page, ::testing::HasSubstr("phase 2, 4096 bytes: in flight"));
  EXPECT_THAT(page, ::testing::HasSubstr("are in flight at once"));
}

/// Stores a tile in bulk, with no gate. Some accesses come before the first of the words.
struct StoresTile {
  static constexpr const char* name = "stores_tile";
  static constexpr Dim3 block{64};
  using Numbers = UnitTile<float, row_major(16, 32)>;
  struct Shared {
    Numbers tile;
  };
  bool all_fence = true, meets = true, fences_first = false;

  void operator()(auto t, const BulkMatrix<Numbers>& to) const {
    auto& s = shared<Shared>(t);
    const auto tile_view = s.tile.view();
    if (fences_first) fence_async(t);
    for (int i = t.thread; i < 16 * 32; i += 64) tile_view(i / 32, i % 32) = 1.0f;
    if (!fences_first && (all_fence || t.warp == 0)) fence_async(t);
    if (meets) t.barrier();
    else t.warp_barrier();
    if (t.thread != 0) return;
    store_bulk(t, s.tile, tile<16, 32>(to, 0, 0));
    commit_bulk(t);
    wait_bulk_read<0>(t);
  }
};

std::vector<Kind> kinds_of(const StoresTile& kernel, ThreadOrder order) {
  alignas(64) float c[16 * 32] = {};
  using Numbers = StoresTile::Numbers;
  const BulkMatrix<Numbers> to{software_map(bulk_fields<Numbers>(c, 16, 32, 32, 1)), 16, 32};
  const auto report = check::check(options_of(order, 1), Dim3{1}, kernel, to);
  std::vector<Kind> out;
  for (const auto& each : report.findings) out.push_back(each.kind);
  return out;
}

TEST(BulkStores, NeedTheFenceOfEachThreadAndABarrier) {
  using ::testing::Contains;
  for (const auto order : kOrders) {
    EXPECT_THAT(kinds_of({}, order), ::testing::IsEmpty()) << name(order);
    EXPECT_THAT(kinds_of({.all_fence = false}, order), Contains(Kind::missing_async_fence));
    EXPECT_THAT(kinds_of({.meets = false}, order), Contains(Kind::race)) << name(order);
  }
}

/// A fence makes visible what is ordered before it, and nothing that its thread stores later.
TEST(BulkStores, AreNotOrderedByAFenceBeforeTheStores) {
  for (const auto order : kOrders)
    EXPECT_THAT(kinds_of({.fences_first = true}, order),
                ::testing::Contains(Kind::missing_async_fence))
        << name(order);
  using Numbers = StoresTile::Numbers;
  for (const bool fences_first : {false, true}) {
    alignas(64) float c[16 * 32] = {};
    const BulkMatrix<Numbers> to{software_map(bulk_fields<Numbers>(c, 16, 32, 32, 1)), 16, 32};
    launch({.grid = {1}, .block = StoresTile::block, .order = ThreadOrder::late},
           StoresTile{.fences_first = fences_first}, to);
    EXPECT_EQ(std::count(std::begin(c), std::end(c), 1.0f) == 16 * 32, !fences_first);
  }
}

/// Plain asynchronous copies beside gates.
struct CopiesBesideGates {
  static constexpr const char* name = "copies_beside_gates";
  static constexpr Dim3 block{64};
  struct Shared {
    Tile<float, 1, 64> tile;
    Gate gate;
  };
  bool waits = true, meets = true;

  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) open_gate(t, s.gate, 1);
    t.barrier();
    copy_async(t, tile<1, 64>(A, 0, 0), s.tile.view());
    commit(t);
    if (waits) tessera::wait<0>(t);
    if (meets) t.barrier();
    C(0, t.thread) = s.tile(0, 63 - t.thread);
    if (!waits) tessera::wait<0>(t);
  }
};

std::vector<Kind> kinds_of(const CopiesBesideGates& kernel) {
  alignas(64) float a[64] = {}, c[64] = {};
  const auto report = check::check(options_of(ThreadOrder::forward, 0), Dim3{1}, kernel,
                                   tensor<kRowMajorMatrix>(static_cast<const float*>(a), 1, 64, 64),
                                   tensor<kRowMajorMatrix>(static_cast<float*>(c), 1, 64, 64));
  std::vector<Kind> out;
  for (const auto& each : report.findings) out.push_back(each.kind);
  return out;
}

TEST(PlainCopies, AreJudgedByTheSameClocksBesideGates) {
  EXPECT_THAT(kinds_of(CopiesBesideGates{}), ::testing::IsEmpty());
  EXPECT_THAT(kinds_of(CopiesBesideGates{.waits = false}),
              ::testing::Contains(Kind::async_not_waited));
  EXPECT_THAT(kinds_of(CopiesBesideGates{.meets = false}), ::testing::Contains(Kind::race));
}

}  // namespace
}  // namespace tessera::broken
