// `thin` under the checker: f32 in its tiles, f16 and bf16 in the first. Operands that bulk copies
// cannot read are multiplied by `tensor_core`, as in every run.
#include "matmul/checked.hpp"
#include "matmul/thin_operands.hpp"

namespace tessera::detail {

namespace {

using CheckedThinTiles = CompiledTiles<ThinTiles>;
using SixteenBitTiles = TileList<1, ThinTiles::tiles[0]>;

template <class T, class Tiles>
check::Report check_thin(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  check::Report report;
  ThinLadder<Tiles>::with_kernel(p, call.tile, [&]<class Kernel>(const Kernel& kernel) {
    with_thin_operands<Kernel, T, T>(
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

check::Report run_thin_checked(const LadderCall& call, const check::Options& options) {
  if (!why_no_thin_operands(call.problem, call.A, call.B).empty())
    return check_by_tensor_core(call, options);
  if constexpr (has_unit_product(DType::f16, DType::f16)) {  // of a whole build
    if (call.problem.in == DType::f16) return check_thin<f16, SixteenBitTiles>(call, options);
    if (call.problem.in == DType::bf16) return check_thin<bf16, SixteenBitTiles>(call, options);
  }
  return check_thin<float, CheckedThinTiles>(call, options);
}

bool has_thin_type(DType in, DType out, const TileShape& tile) {
  const bool is_16_bit = in == DType::f16 || in == DType::bf16;
  return is_f32_product(in, out) || (is_16_bit && in == out && tile == SixteenBitTiles::tiles[0]);
}

RingOf ring_of_thin(DType in, const TileShape& tile) {
  RingOf out{128 / static_cast<int>(size_of(in)), 0, check::ProductStrides::aligned_transposed_b};
  ThinLadder<ThinTiles>::with_kernel(
      {.b = {1, 0}}, tile, [&]<class Kernel>(const Kernel&) { out.stages = Kernel::stages; });
  return out;
}

}  // namespace

CheckedEntry checked_thin() {
  return {"thin", CheckedThinTiles::tiles, has_thin_type, run_thin_checked, ring_of_thin};
}

}  // namespace tessera::detail
