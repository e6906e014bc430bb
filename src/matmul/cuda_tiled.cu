// `tiled` for CUDA (kernels/tiled.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/tiled.hpp"

namespace tessera::detail {

const CudaEntry kCudaTiled{"tiled", CudaLadder<Tiled, TiledTiles>::run};

}  // namespace tessera::detail
