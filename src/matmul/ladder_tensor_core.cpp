// `tensor_core`, compiled for the types that matrix units take and its tiles
// (kernels/tensor_core.hpp). The one algorithm that does not keep the bits of f32: its inputs are
// rounded to TF32.
#include "ladder.hpp"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kDefault = TensorCoreTiles::tiles[0], kSmall = TensorCoreTiles::tiles[1];

void run_tensor_core(const LadderCall& call) {
  if (call.tile == kSmall) return run_kernel<TensorCoreTiled<kSmall>, float, float>(call);
  visit_unit_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
    run_kernel<TensorCoreTiled<kDefault>, In, Out>(call);
  });
}

}  // namespace

const LadderEntry kTensorCore{
    {"tensor_core", "warps multiply fragments with matrix units (f32 as TF32)",
     TensorCoreTiles::tiles, false, has_unit_product, 1, Arithmetic::tf32},
    run_tensor_core,
    "TensorCoreTiled",
    warp_tile};

}  // namespace tessera::detail
