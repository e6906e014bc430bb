// `tensor_core` for CUDA, for the types that matrix units take (kernels/tensor_core.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kDefault = TensorCoreTiles::tiles[0], kSmall = TensorCoreTiles::tiles[1],
                    kF64 = TensorCoreF64Tiles::tiles[0];

}  // namespace

void run_tensor_core_on_cuda(const CudaCall& call) {
  if (call.problem.in == DType::f64)
    return run_on_cuda<TensorCoreTiled<kF64>, double, double>(call);
  if (call.tile == kSmall) return run_on_cuda<TensorCoreTiled<kSmall>, float, float>(call);
  visit_unit_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
    run_on_cuda<TensorCoreTiled<kDefault>, In, Out>(call);
  });
}

}  // namespace tessera::detail
