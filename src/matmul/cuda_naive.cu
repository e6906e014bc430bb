// `naive` for CUDA (kernels/naive.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/naive.hpp"

namespace tessera::detail {

const CudaEntry kCudaNaive{"naive", CudaLadder<Naive, ElementwiseTiles>::run};

}  // namespace tessera::detail
