// `warpgroup` for CUDA, of bf16 into f32.
#include "cuda_warpgroup.cuh"

namespace tessera::detail {

void run_warpgroup_bf16_into_f32(const CudaCall& call) { run_warpgroup<bf16, float>(call); }

}  // namespace tessera::detail
