// `warpgroup` for CUDA (kernels/warpgroup_tiled.hpp): the file of the types. A device without a
// warpgroup's units, and operands that bulk copies cannot read, get `tensor_core`.
#include "cuda_warpgroup.cuh"
#include "ladder.hpp"

namespace tessera::detail {

namespace {

void run(const CudaCall& call) {
  const Problem& p = call.problem;
  if (cuda::abilities(call.stream.device()).capability != 90 ||
      !why_no_bulk_operands(p, call.A, call.B).empty())
    return kCudaTensorCore.run(
        {p, TensorCoreTiles::tiles[0], call.stream, call.A, call.B, call.C, call.bias});
  if (p.in == DType::f32) return run_warpgroup_f32(call);
  const bool into_f32 = p.out == DType::f32;
  if (p.in == DType::f16)
    return into_f32 ? run_warpgroup_f16_into_f32(call) : run_warpgroup_f16(call);
  return into_f32 ? run_warpgroup_bf16_into_f32(call) : run_warpgroup_bf16(call);
}

}  // namespace

const CudaEntry kCudaWarpgroup{"warpgroup", run, WarpgroupTiles::typed};

}  // namespace tessera::detail
