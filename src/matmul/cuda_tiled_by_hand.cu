// `tiled_by_hand` for CUDA (kernels/tiled_by_hand.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/tiled_by_hand.hpp"

namespace tessera::detail {

const CudaEntry kCudaTiledByHand{"tiled_by_hand", CudaLadder<TiledByHand, TiledByHandTiles>::run};

}  // namespace tessera::detail
