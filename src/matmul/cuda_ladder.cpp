// The list of the kernels for CUDA, in the order of the ladder; see cuda_ladder.hpp.
#include "cuda_ladder.hpp"

namespace tessera::detail {

std::span<const CudaEntry> cuda_ladder() {
#if defined(TESSERA_HAS_CUDA)
  static const CudaEntry entries[] = {
      kCudaNaive,         kCudaCoalescing,     kCudaTiled,
      kCudaTiledRegister, kCudaBlockTiled,     kCudaBlockTiledVectorized,
      kCudaTensorCore,    kCudaPipelined,      kCudaSingleBlock,
      kCudaTiledByHand,   kCudaTiledIdiomatic, kCudaSarekNaive,
      kCudaSarekTiled,    kCudaWarpgroup,      kCudaThin,
      kCudaBulkTiled};
  return entries;
#else
  return {};
#endif
}

}  // namespace tessera::detail
