// The kernels for CUDA, in the order of the ladder; see ladder.hpp.
#include "ladder.hpp"

namespace tessera::detail {

std::span<const CudaEntry> cuda_ladder() {
#if defined(TESSERA_HAS_CUDA)
  static const CudaEntry entries[] = {
#define TESSERA_LADDER(name, ...) {#name, run_##name##_on_cuda},
#define TESSERA_LADDER_UNITS(name, ...) TESSERA_LADDER(name)
#define TESSERA_LADDER_BULK(name, Tiles) {#name, run_##name##_on_cuda, Tiles::typed},
#define TESSERA_LADDER_HOST(name)
#include "matmul/ladder.inc"
  };
  return entries;
#else
  return {};
#endif
}

CudaCalls cuda_calls() {
#if defined(TESSERA_HAS_CUDA)
  return {run_group_on_cuda, pack_on_cuda};
#else
  return {};
#endif
}

}  // namespace tessera::detail
