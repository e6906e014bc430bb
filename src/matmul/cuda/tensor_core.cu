// `tensor_core` for CUDA, for the types that matrix units take (kernels/tensor_core.hpp).
#include "ladder.cuh"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

void run_tensor_core_on_cuda(const CudaCall& call) {
  constexpr TileShape kSmall = TensorCoreTiles::tiles[1];
  if (call.tile == kSmall) return run_on_cuda<TensorCoreTiled<kSmall>, float, float>(call);
  visit_tensor_core_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
    run_on_cuda<TensorCoreTiled<kFirstTile<TensorCoreTiles, In>>, In, Out>(call);
  });
}

}  // namespace tessera::detail
