// `tiled_idiomatic` for CUDA (kernels/tiled_idiomatic.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/tiled_idiomatic.hpp"

namespace tessera::detail {

const CudaEntry kCudaTiledIdiomatic{"tiled_idiomatic",
                                    CudaLadder<TiledIdiomatic, TiledIdiomaticTiles>::run};

}  // namespace tessera::detail
