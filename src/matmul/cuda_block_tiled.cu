// `block_tiled` for CUDA (kernels/block_tiled.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/block_tiled.hpp"

namespace tessera::detail {

const CudaEntry kCudaBlockTiled{"block_tiled", CudaLadder<BlockTiled, BlockTiledTiles>::run};

}  // namespace tessera::detail
