// `warpgroup` for CUDA, of bf16.
#include "cuda_warpgroup.cuh"

namespace tessera::detail {

void run_warpgroup_bf16(const CudaCall& call) { run_warpgroup<bf16, bf16>(call); }

}  // namespace tessera::detail
