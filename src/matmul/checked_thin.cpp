// `thin` under the checker: f32 in its tiles. Operands that bulk copies cannot read are multiplied
// by `tensor_core`, as in every run.
#include "checked.hpp"
#include "thin_operands.hpp"

namespace tessera::detail {

namespace {

check::Report run_thin_checked(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  if (!why_no_thin_operands(p, call.A, call.B).empty())
    return checked_tensor_core().run(
        {p, TensorCoreTiles::tiles[0], call.config, call.A, call.B, call.C, call.bias}, options);
  check::Report report;
  ThinLadder<ThinTiles>::with_kernel(p, call.tile, [&]<class Kernel>(const Kernel& kernel) {
    with_thin_operands<Kernel, float, float>(
        p, call.A, call.B, call.C, call.bias, software_map,
        [&](const auto& L, const auto& S, const auto& C) {
          check::Options own = options;
          if (is_b_large(p)) own.tensors = {"B", "A", "C"};  // the large operand comes first
          const Dim3 grid = Kernel::grid(std::max(p.M, p.N), std::min(p.M, p.N));
          report = check::check(own, grid, kernel, L, S, C);
        });
  });
  return report;
}

bool has_thin_type(DType in, DType out, const TileShape&) { return is_f32_product(in, out); }

}  // namespace

CheckedEntry checked_thin() {
  return {"thin", ThinTiles::tiles, has_thin_type, run_thin_checked, true};
}

}  // namespace tessera::detail
