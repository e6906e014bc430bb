// `three_bf16` under the checker: its operands as planes, then their product.
#include <type_traits>
#include <utility>
#include <vector>

#include "check/merge/reports.hpp"
#include "matmul/checked.hpp"
#include "matmul/three_bf16_operands.hpp"

namespace tessera::detail {

namespace {

/// The packing of both operands into planes and the product of these, in one report.
check::Report run_three_bf16_checked(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  std::vector<bf16> A(static_cast<std::size_t>(plane_bytes(p, p.M)) / sizeof(bf16)),
      B(static_cast<std::size_t>(plane_bytes(p, p.N)) / sizeof(bf16));
  check::Report report;
  std::vector<check::Report> packings;
  const auto launch = [&]<class Kernel>(Dim3 grid, const Kernel& kernel, const auto&... arguments) {
    check::Options own = options;
    if constexpr (std::is_same_v<Kernel, PackOperand<3>>) {
      const bool is_a = packings.empty();
      own.tensors = {is_a ? "A" : "B", is_a ? "planes of A" : "planes of B"};
      own.fresh_outputs = true;
      packings.push_back(check::check(own, grid, kernel, arguments...));
    } else {
      own.tensors = {"planes of A", "planes of B", "C"};
      own.problem += ", after pack_operand of A and B";
      report = check::check(own, grid, kernel, arguments...);
    }
  };
  run_three_bf16_by({p, call.A, call.B, call.C, call.bias}, call.tile, {A.data(), B.data()}, 2,
                    software_map, launch);
  std::vector<check::Coverage> coverage;
  for (check::Report& each : packings) {
    coverage.insert(coverage.end(), each.coverage.begin(), each.coverage.end());
    each.kernel.clear();  // one kernel with its preparation
    check::merge_report(report, std::move(each));
  }
  report.coverage.insert(report.coverage.begin(), coverage.begin(), coverage.end());
  return report;
}

bool has_three_bf16(DType in, DType out, const TileShape&) { return is_f32_product(in, out); }

/// 64 of K are six tiles of planes, more than a ring holds.
RingOf ring_of_three_bf16(DType, const TileShape&) { return {64, 2, check::ProductStrides::rows}; }

}  // namespace

CheckedEntry checked_three_bf16() {
  return {"three_bf16", ThreeBf16Tiles::tiles, has_three_bf16, run_three_bf16_checked,
          ring_of_three_bf16};
}

}  // namespace tessera::detail
