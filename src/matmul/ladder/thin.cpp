// `thin`, compiled for the types that matrix units take and its tiles (kernels/thin_tiled.hpp).
// Operands that bulk copies cannot read are multiplied by `tensor_core`.
#include <vector>

#include "matmul/ladder.hpp"
#include "matmul/thin_operands.hpp"

namespace tessera::detail {

std::string why_no_thin_operands(const Problem& p, const void* a, const void* b) {
  if (!reads_operands(p)) return {};
  const auto of = [&]<class In>(TypeTag<In>) {
    using Kernel = ThinTiled<ThinTiles::tiles[0]>;
    using Large = typename Kernel::TileL<In>;
    using Small = typename Kernel::TileS<In>;
    const bool b_large = is_b_large(p);
    const auto why_a = b_large ? why_no_operand<Small>(a, p.M, p.K, p.a.row, p.a.col)
                               : why_no_operand<Large>(a, p.M, p.K, p.a.row, p.a.col);
    if (!why_a.empty()) return cat("A: ", why_a);
    const auto why_b = b_large ? why_no_operand<Large>(b, p.N, p.K, p.b.col, p.b.row)
                               : why_no_operand<Small>(b, p.N, p.K, p.b.col, p.b.row);
    return why_b.empty() ? why_b : cat("B: ", why_b);
  };
  if (p.in == DType::f32) return of(TypeTag<float>{});
  return p.in == DType::f16 ? of(TypeTag<f16>{}) : of(TypeTag<bf16>{});
}

namespace {

template <class In, class Out>
void run_thin_typed(const LadderCall& call) {
  const Problem& p = call.problem;
  using Sum = Accumulator<Out>;
  std::vector<Sum> sums(static_cast<std::size_t>(bytes_of_parts(p, call.parts)) / sizeof(Sum));
  run_thin_by<In, Out>({p, call.A, call.B, call.C, call.bias}, call.tile, call.parts,
                       sums.empty() ? nullptr : sums.data(), software_map,
                       engine_launcher(call.config));
}

}  // namespace

void run_thin(const LadderCall& call) {
  if (!why_no_thin_operands(call.problem, call.A, call.B).empty())
    return run_tensor_core(
        {call.problem, TensorCoreTiles::tiles[0], call.config, call.A, call.B, call.C, call.bias});
  visit_unit_product(call.problem.in, call.problem.out,
                     [&]<class In, class Out>() { run_thin_typed<In, Out>(call); });
}

LadderEntry entry_of_thin() {
  return {{"thin", "the large operand streams past a thin C (Hopper; f32 as TF32)",
           ThinTiles::tiles, false, has_unit_product, ThinTiles::typed, Arithmetic::tf32},
          run_thin,
          "ThinTiled",
          thin_tile};
}

}  // namespace tessera::detail
