// `pipelined` for CUDA (kernels/pipelined.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/pipelined.hpp"

namespace tessera::detail {

const CudaEntry kCudaPipelined{"pipelined", CudaLadder<Pipelined, PipelinedTiles>::run};

}  // namespace tessera::detail
