// `single_block` for CUDA (kernels/single_block.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/single_block.hpp"

namespace tessera::detail {

const CudaEntry kCudaSingleBlock{"single_block", CudaLadder<SingleBlock, SingleBlockTiles>::run};

}  // namespace tessera::detail
