// `tiled_register` for CUDA (kernels/tiled_register.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

const CudaEntry kCudaTiledRegister{"tiled_register",
                                   CudaLadder<TiledRegister, TiledRegisterTiles>::run};

}  // namespace tessera::detail
