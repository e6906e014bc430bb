// `block_tiled_vectorized` for CUDA (kernels/block_tiled_vectorized.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/block_tiled_vectorized.hpp"

namespace tessera::detail {

const CudaEntry kCudaBlockTiledVectorized{
    "block_tiled_vectorized", CudaLadder<BlockTiledVectorized, BlockTiledVectorizedTiles>::run};

}  // namespace tessera::detail
