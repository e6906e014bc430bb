// `warpgroup`, compiled for the types that matrix units take and its tiles
// (kernels/warpgroup_tiled.hpp). Operands that bulk copies cannot read are multiplied by
// `tensor_core`; of one byte, which it does not have, they are copied.
#include <algorithm>

#include "matmul/byte_rows.hpp"
#include "matmul/ladder.hpp"
#include "matmul/warpgroup_group.hpp"

namespace tessera::detail {

std::string why_no_bulk_operands(const Problem& p, const void* a, const void* b) {
  if (!reads_operands(p)) return {};
  const auto of = [&]<class In>(TypeTag<In>) {
    using Kernel = WarpgroupTiled<WarpgroupTiles::tiles[0]>;
    if (const auto why = why_no_operand<typename Kernel::TileA<In>>(a, p.M, p.K, p.a.row, p.a.col);
        !why.empty())
      return cat("A: ", why);
    if (const auto why = why_no_operand<typename Kernel::TileB<In>>(b, p.N, p.K, p.b.col, p.b.row);
        !why.empty())
      return cat("B: ", why);
    return std::string();
  };
  if (p.in == DType::f32) return of(TypeTag<float>{});
  if (size_of(p.in) == 1) return of(TypeTag<std::uint8_t>{});
  return p.in == DType::f16 ? of(TypeTag<f16>{}) : of(TypeTag<bf16>{});
}

namespace {

template <class In, class Out>
void run_warpgroup_typed(const LadderCall& call) {
  const Problem& p = call.problem;
  if (const index_t bytes = bytes_of_parts(p, call.parts); bytes > 0) {
    std::vector<Accumulator<Out>> sums(static_cast<std::size_t>(bytes) / sizeof(Accumulator<Out>));
    const GroupedProduct product{p, call.A, call.B, call.C, call.bias};
    const auto run = [&](std::span<const GroupedProduct> parts) {
      run_group_on_engine(parts, call.tile, call.config);
    };
    return run_in_parts<In, Out>(product, call.parts, sums.data(), run,
                                 engine_launcher(call.config));
  }
  WarpgroupLadder<In>::with_kernel(call.tile, [&]<class Kernel>(const Kernel& kernel) {
    // Blocks are persistent.
    const Dim3 grid = Kernel::grid(p.M, p.N, std::max(1, call.config.threads));
    with_bulk_operands<Kernel, In, Out>(
        p, call.A, call.B, call.C, call.bias, software_map,
        [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
          engine_launcher(call.config)(grid, kernel, A, B, slices, C);
        });
  });
}

}  // namespace

void run_warpgroup(const LadderCall& call) {
  const Problem& p = call.problem;
  const bool has_maps = why_no_bulk_operands(p, call.A, call.B).empty();
  if (!has_maps && size_of(p.in) > 1)
    return run_tensor_core(
        {p, TensorCoreTiles::tiles[0], call.config, call.A, call.B, call.C, call.bias});
  const auto run_typed = [](const LadderCall& typed) {
    visit_warpgroup_product(typed.problem.in, typed.problem.out,
                            [&]<class In, class Out>() { run_warpgroup_typed<In, Out>(typed); });
  };
  if (has_maps) return run_typed(call);
  const ByteRows rows(p, call.A, call.B);
  run_typed({rows.problem, call.tile, call.config, rows.A.data(), rows.B.data(), call.C, call.bias,
             call.arithmetic, call.parts});
}

void run_group_on_engine(std::span<const GroupedProduct> products, const TileShape& tile,
                         const LaunchConfig& config) {
  if (products.empty()) return;
  const Problem& first = products.front().problem;
  visit_warpgroup_product(first.in, first.out, [&]<class In, class Out>() {
    run_group<In, Out>(products, tile, std::max(1, config.threads), software_map,
                       engine_launcher(config));
  });
}

LadderEntry entry_of_warpgroup() {
  return {{"warpgroup",
           "warpgroups multiply the tiles of bulk copies (Hopper; f32 as TF32)",
           WarpgroupTiles::tiles,
           false,
           has_warpgroup_product,
           WarpgroupTiles::typed,
           Arithmetic::tf32,
           {},
           WarpgroupByteTiles::tiles},
          run_warpgroup,
          "WarpgroupTiled",
          warpgroup_tile};
}

}  // namespace tessera::detail
