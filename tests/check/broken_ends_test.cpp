// What a block leaves in flight when it ends, or starts twice: copies and products that nobody
// awaits, bytes that no phase expects, stores to one place. Each beside its clean twin, in every
// order of the threads. Lines that findings name end with "// at" and a name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/report_text.hpp"
#include "named_lines.hpp"
#include "tessera/check/check.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/ops/warpgroup.hpp"

namespace tessera::broken {
namespace {

using check::Kind;
using ::testing::HasSubstr;

constexpr ThreadOrder kEndOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                      ThreadOrder::shuffled, ThreadOrder::late};

enum class End {
  clean,
  copy_not_awaited,
  product_not_awaited,
  one_product_not_awaited,
  two_copies_for_one,
  copy_too_many,
  bytes_too_many,
  operand_overwritten,
  operand_overwritten_by_another,
  stores_to_one_tile,
  store_over_store_read
};

constexpr int kEndRows = 64, kEndDepth = 32;

struct Ends {
  static constexpr const char* name = "ends";
  static constexpr Dim3 block{kWarpgroupThreads};
  using Tile = UnitTile<float, row_major(kEndRows, kEndDepth)>;
  using Unit = WarpgroupUnit<float, float, float, 64, 64>;
  struct Shared {
    Tile p, q;
    Gate gates[2];
  };
  End end = End::clean;

  bool is(End which) const { return end == which; }

  void operator()(auto t, const BulkMatrix<Tile>& A, const BulkMatrix<Tile>& C, auto out) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      for (Gate& each : s.gates) open_gate(t, each, 1);
      publish_gates(t);
    }
    t.barrier();
    if (t.thread == 0) {
      expect(t, s.gates[0], Tile::bytes);
      copy_bulk(t, tile<kEndRows, kEndDepth>(A, 0, 0), s.p, s.gates[0]);
      copy_second(t, s, A);
    }
    wait(t, s.gates[0], 0);
    if (!is(End::copy_not_awaited)) wait(t, s.gates[1], 0);
    multiply(t, s, out);
    t.barrier();
    if (t.thread == 0) store(t, s, C);
  }

 private:
  void copy_second(auto t, auto& s, const auto& A) const {
    const int bytes = is(End::bytes_too_many) ? 2 * Tile::bytes : Tile::bytes;
    expect(t, s.gates[1], bytes);                                       // at expect
    copy_bulk(t, tile<kEndRows, kEndDepth>(A, 0, 0), s.q, s.gates[1]);  // at copy
    if (is(End::two_copies_for_one))
      copy_bulk(t, tile<kEndRows, kEndDepth>(A, 0, 0), s.p, s.gates[1]);  // at second_copy
    if (!is(End::copy_too_many)) return;
    wait(t, s.gates[1], 0);
    copy_bulk(t, tile<kEndRows, kEndDepth>(A, 0, 0), s.q, s.gates[1]);  // at copy_more
  }

  void multiply(auto t, auto& s, auto out) const {
    typename Unit::Fragment acc, other;
    Unit::mma(t, acc, whole(s.p), whole(s.p), false);                            // at product
    if (is(End::operand_overwritten) && t.thread == 5) s.p.view()(3, 4) = 1.0f;  // at overwrite
    if (is(End::operand_overwritten_by_another)) {
      meet<1>(t, kWarpgroupThreads);
      if (t.thread == 77) s.p.view()(3, 4) = 1.0f;  // at overwrite_later
    }
    if (is(End::product_not_awaited)) return;
    wait_mma<0>(t);
    out(t.thread) = acc.value[0][0];
    if (is(End::one_product_not_awaited))
      Unit::mma(t, other, whole(s.p), whole(s.p), false);  // at second_product
  }

  void store(auto t, auto& s, const auto& C) const {
    const Tile& from = is(End::copy_not_awaited) || is(End::copy_too_many) ? s.p : s.q;
    store_bulk(t, from, tile<kEndRows, kEndDepth>(C, 0, 0));  // at store
    commit_bulk(t);
    if (is(End::store_over_store_read)) wait_bulk_read<0>(t);
    else if (!is(End::stores_to_one_tile)) wait_bulk<0>(t);
    store_bulk(t, from, tile<kEndRows, kEndDepth>(C, 0, 0));  // at second_store
    commit_bulk(t);
    wait_bulk<0>(t);
  }
};

check::Report checked_end(End end, ThreadOrder order) {
  alignas(16) static const float a[kEndRows * kEndDepth] = {};
  alignas(16) static float c[kEndRows * kEndDepth];
  float out[kWarpgroupThreads] = {};
  const auto bulk = [](const float* data) {
    return BulkMatrix<Ends::Tile>{
        software_map(bulk_fields<Ends::Tile>(data, kEndRows, kEndDepth, kEndDepth, 1)), kEndRows,
        kEndDepth};
  };
  check::Options options;
  options.order = order, options.seed = 2;
  return check::check(options, Dim3{1}, Ends{end}, bulk(a), bulk(c),
                      tensor<row_major(dynamic)>(static_cast<float*>(out), kWarpgroupThreads));
}

TEST(Ends, AreCleanWithEveryWait) {
  for (const auto order : kEndOrders) {
    const auto report = checked_end(End::clean, order);
    EXPECT_TRUE(report.summary.clean) << name(order) << "\n" << text_of(report);
  }
}

struct EndCase {
  const char* name;
  End end;
  Kind kind;
  const char *here, *other, *says;
};
class EndFlaw : public ::testing::TestWithParam<EndCase> {};

TEST_P(EndFlaw, IsFoundWithKindAndLinesInEveryOrder) {
  const EndCase& wanted = GetParam();
  auto lines = named_lines(__FILE__);
  const int here = lines[wanted.here], other = lines[wanted.other];
  ASSERT_GT(here, 0) << wanted.here;
  for (const auto order : kEndOrders) {
    const auto report = checked_end(wanted.end, order);
    ASSERT_EQ(report.summary.errors, 1) << name(order) << "\n" << text_of(report);
    const auto& found = report.findings[0];  // notes follow
    EXPECT_EQ(found.kind, wanted.kind) << text_of(report);
    EXPECT_EQ(found.severity, check::Severity::error);
    EXPECT_EQ(found.location.line, here) << text_of(report);
    if (other > 0) {
      EXPECT_EQ(found.other.line, other) << text_of(report);
    }
    EXPECT_THAT(found.problem, HasSubstr(wanted.says));
    EXPECT_FALSE(found.hint.empty());
    EXPECT_FALSE(report.summary.clean);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ends, EndFlaw,
    ::testing::ValuesIn({
        EndCase{"copy_not_awaited", End::copy_not_awaited, Kind::async_never_waited, "copy", "",
                "of s.q, and the block ends without a wait for that phase of gate"},
        EndCase{"product_not_awaited", End::product_not_awaited, Kind::mma_not_awaited, "product",
                "", "ends without waiting for it"},
        EndCase{"one_product_not_awaited", End::one_product_not_awaited, Kind::mma_not_awaited,
                "second_product", "", "ends without waiting for it"},
        EndCase{"copy_too_many", End::copy_too_many, Kind::gate_bytes, "expect", "copy_more",
                "has 8192 bytes too many"},
        EndCase{"bytes_too_many", End::bytes_too_many, Kind::gate_bytes, "expect", "copy",
                "lacks 8192 bytes"},
        EndCase{"operand_overwritten", End::operand_overwritten, Kind::mma_not_awaited, "overwrite",
                "product", "may still be reading it"},
        EndCase{"operand_overwritten_by_another", End::operand_overwritten_by_another,
                Kind::mma_not_awaited, "overwrite_later", "product", "may still be reading it"},
        EndCase{"stores_to_one_tile", End::stores_to_one_tile, Kind::store_never_awaited,
                "second_store", "store", "may still be writing it"},
        EndCase{"store_over_store_read", End::store_over_store_read, Kind::store_never_awaited,
                "second_store", "store", "may still be writing it"},
    }),
    [](const auto& each) { return std::string(each.param.name); });

/// Which of the two ends the phase differs between runs: it is found whichever does.
TEST(Ends, TwoCopiesForOnePhaseAreFoundInEveryOrder) {
  for (const auto order : kEndOrders) {
    const auto report = checked_end(End::two_copies_for_one, order);
    bool found = false;
    for (const auto& each : report.findings)
      found = found || (each.kind == Kind::gate_bytes &&
                        each.problem.find("8192 bytes too many") != std::string::npos);
    EXPECT_TRUE(found) << name(order) << "\n" << text_of(report);
  }
}

}  // namespace
}  // namespace tessera::broken
