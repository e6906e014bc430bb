// `tensor_core`, compiled for the types that matrix units take and its tiles
// (kernels/tensor_core.hpp). The one algorithm that does not keep the bits of f32: its inputs are
// rounded to TF32.
#include "tessera/kernels/tensor_core.hpp"

#include "matmul/ladder.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kSmall = TensorCoreTiles::tiles[1];

}  // namespace

void run_tensor_core(const LadderCall& call) {
  if (call.tile == kSmall) return run_kernel<TensorCoreTiled<kSmall>, float, float>(call);
  visit_tensor_core_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
    run_kernel<TensorCoreTiled<kFirstTile<TensorCoreTiles, In>>, In, Out>(call);
  });
}

LadderEntry entry_of_tensor_core() {
  return {{"tensor_core", "warps multiply fragments with matrix units (f32 as TF32)",
           TensorCoreTiles::tiles, false, has_tensor_core_product, 1, Arithmetic::tf32,
           own_tiles<TensorCoreTiles, double>(), own_tiles<TensorCoreTiles, std::int8_t>()},
          run_tensor_core,
          "TensorCoreTiled",
          warp_tile};
}

}  // namespace tessera::detail
