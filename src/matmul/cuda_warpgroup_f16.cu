// `warpgroup` for CUDA, of f16.
#include "cuda_warpgroup.cuh"

namespace tessera::detail {

void run_warpgroup_f16(const CudaCall& call) { run_warpgroup<f16, f16>(call); }

}  // namespace tessera::detail
