// `warpgroup` under the checker: f32 in its tiles, bf16 and f16 in the first. Operands that bulk
// copies cannot read are multiplied by `tensor_core`, as in every run.
#include "checked.hpp"
#include "warpgroup_operands.hpp"

namespace tessera::detail {

namespace {

template <class T, class Tiles>
check::Report check_typed(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  check::Report report;
  WarpgroupLadder<Tiles>::with_kernel(call.tile, [&]<class Kernel>(const Kernel& kernel) {
    with_bulk_operands<Kernel, T, T>(
        p, call.A, call.B, call.C, call.bias, software_map,
        [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
          // Few blocks, so that each computes a second tile.
          report = check::check(options, Kernel::grid(p.M, p.N, 2), kernel, A, B, slices, C);
        });
  });
  return report;
}

check::Report run_warpgroup_checked(const LadderCall& call, const check::Options& options) {
  using First = TileList<1, WarpgroupTiles::tiles[0]>;
  const Problem& p = call.problem;
  if (!why_no_bulk_operands(p, call.A, call.B).empty())
    return checked_tensor_core().run(
        {p, TensorCoreTiles::tiles[0], call.config, call.A, call.B, call.C, call.bias}, options);
  if (p.in == DType::bf16) return check_typed<bf16, First>(call, options);
  if (p.in == DType::f16) return check_typed<f16, First>(call, options);
  return check_typed<float, WarpgroupTiles>(call, options);
}

bool has_warpgroup_type(DType in, DType out, const TileShape& tile) {
  if (in != out) return false;
  return in == DType::f32 ||
         (tile == WarpgroupTiles::tiles[0] && (in == DType::bf16 || in == DType::f16));
}

}  // namespace

CheckedEntry checked_warpgroup() {
  return {"warpgroup", WarpgroupTiles::tiles, has_warpgroup_type, run_warpgroup_checked, true};
}

}  // namespace tessera::detail
