// `warpgroup` for CUDA, of f16 into f32.
#include "cuda_warpgroup.cuh"

namespace tessera::detail {

void run_warpgroup_f16_into_f32(const CudaCall& call) { run_warpgroup<f16, float>(call); }

}  // namespace tessera::detail
