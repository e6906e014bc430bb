// `sarek_naive` for CUDA (kernels/sarek_naive.hpp).
#include "cuda_ladder.cuh"
#include "tessera/kernels/sarek_naive.hpp"

namespace tessera::detail {

const CudaEntry kCudaSarekNaive{"sarek_naive", CudaLadder<SarekNaive, SarekNaiveTiles>::run};

}  // namespace tessera::detail
