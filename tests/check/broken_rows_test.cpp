// A ring of stages that threads read: whichever of its waits is wrong, one error names it, and what
// follows from it is no other one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report_text.hpp"
#include "tessera/check/check.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera::check {
namespace {

enum class RowFlaw { none, no_full_wait, no_free_wait, parity_constant, wait_behind };

/// The sums of the rows of A: warp 1 loads, each thread of warp 0 adds up a row.
struct AddsRows {
  static constexpr const char* name = "adds_rows";
  static constexpr Dim3 block{64};
  static constexpr int height = 32, width = 32, stages = 2;
  using Part = UnitTile<float, row_major(height, width)>;
  struct Shared {
    Part parts[stages];
    Gate full[stages], free[stages];
  };
  RowFlaw flaw = RowFlaw::none;

  void operator()(auto t, const BulkMatrix<Part>& A, auto out) const {
    auto& s = shared<Shared>(t);
    open_gates(t, s.full, s.free, 32);
    if (t.thread == 0) publish_gates(t);
    t.barrier();
    Turn<stages> turn;
    if (t.warp == 1) {
      for (int k = 0; k < tiles<1>(A, width) && t.lane == 0; ++k, turn.next()) {
        if (flaw != RowFlaw::no_free_wait) wait(t, s.free[turn.stage], turn.before());
        expect(t, s.full[turn.stage], Part::bytes);
        copy_bulk(t, tile<height, width>(A, t.block, k), s.parts[turn.stage], s.full[turn.stage]);
      }
      return;
    }
    float sum = 0;
    for (int k = 0; k < tiles<1>(A, width); ++k, turn.next()) {
      const bool waits = flaw != RowFlaw::no_full_wait && flaw != RowFlaw::wait_behind;
      const unsigned phase = flaw == RowFlaw::parity_constant ? 0u : turn.phase;
      if (waits) wait(t, s.full[turn.stage], phase);
      for (int i = 0; i < width; ++i) sum += s.parts[turn.stage].view()(t.lane, i);
      if (flaw == RowFlaw::wait_behind) wait(t, s.full[turn.stage], turn.phase);
      arrive(t, s.free[turn.stage]);
    }
    out(0, t.block * height + t.lane) = sum;
  }
};

std::vector<std::string> errors_of(RowFlaw flaw, ThreadOrder order, std::uint64_t seed,
                                   std::string& text) {
  constexpr int rows = 64, cols = 224;
  alignas(16) static float a[rows * cols], out[rows];
  const BulkMatrix<AddsRows::Part> A{
      software_map(bulk_fields<AddsRows::Part>(a, rows, cols, cols, 1)), rows, cols};
  Options options;
  options.order = order, options.seed = seed;
  const Report report = check(options, Dim3{2}, AddsRows{flaw}, A,
                              tensor<kRowMajorMatrix>(static_cast<float*>(out), 1, rows, rows));
  text = text_of(report);
  std::vector<std::string> found;
  for (const Finding& each : report.findings)
    if (each.severity == Severity::error) found.emplace_back(name(each.kind));
  EXPECT_EQ(report.summary.errors, static_cast<std::int64_t>(found.size()));
  return found;
}

TEST(AddsRows, AWrongWaitIsOneErrorInEveryOrder) {
  using ::testing::ElementsAre;
  for (const auto order :
       {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled, ThreadOrder::late}) {
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      std::string text;
      EXPECT_THAT(errors_of(RowFlaw::none, order, seed, text), ::testing::IsEmpty()) << text;
      for (const auto& [flaw, kind] : {std::pair{RowFlaw::no_full_wait, "bulk-not-awaited"},
                                       {RowFlaw::wait_behind, "bulk-not-awaited"},
                                       {RowFlaw::no_free_wait, "stage-reused"},
                                       {RowFlaw::parity_constant, "gate-phase"}})
        EXPECT_THAT(errors_of(flaw, order, seed, text), ElementsAre(kind))
            << name(order) << " " << seed << "\n"
            << text;
    }
  }
}

}  // namespace
}  // namespace tessera::check
