// `sarek_tiled` for CUDA (kernels/sarek_tiled.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/sarek_tiled.hpp"

namespace tessera::detail {

const CudaEntry kCudaSarekTiled{"sarek_tiled", CudaLadder<SarekTiled, SarekTiledTiles>::run};

}  // namespace tessera::detail
