// `tensor_core`, compiled for the types that matrix units take and its tiles
// (kernels/tensor_core.hpp). The one algorithm that does not keep the bits of f32: its inputs are
// rounded to TF32.
#include "ladder.hpp"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kDefault = TensorCoreTiles::tiles[0], kSmall = TensorCoreTiles::tiles[1],
                    kF64 = TensorCoreF64Tiles::tiles[0];

bool has_product_of_units(DType in, DType out) {
  return has_unit_product(in, out) || (in == DType::f64 && out == DType::f64);
}

}  // namespace

void run_tensor_core(const LadderCall& call) {
  if (call.problem.in == DType::f64) return run_kernel<TensorCoreTiled<kF64>, double, double>(call);
  if (call.tile == kSmall) return run_kernel<TensorCoreTiled<kSmall>, float, float>(call);
  visit_unit_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
    run_kernel<TensorCoreTiled<kDefault>, In, Out>(call);
  });
}

LadderEntry entry_of_tensor_core() {
  return {{"tensor_core", "warps multiply fragments with matrix units (f32 as TF32)",
           TensorCoreTiles::tiles, false, has_product_of_units, 1, Arithmetic::tf32,
           TensorCoreF64Tiles::tiles},
          run_tensor_core,
          "TensorCoreTiled",
          warp_tile};
}

}  // namespace tessera::detail
