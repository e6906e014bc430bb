// `coalescing` for CUDA (kernels/coalescing.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/coalescing.hpp"

namespace tessera::detail {

const CudaEntry kCudaCoalescing{"coalescing", CudaLadder<Coalescing, ElementwiseTiles>::run};

}  // namespace tessera::detail
