// `warpgroup` for CUDA, of f32 as TF32.
#include "cuda_warpgroup.cuh"

namespace tessera::detail {

void run_warpgroup_f32(const CudaCall& call) { run_warpgroup<float, float>(call); }

}  // namespace tessera::detail
