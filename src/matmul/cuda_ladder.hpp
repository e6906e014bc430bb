// The kernels of the ladder compiled for CUDA: each file src/matmul/cuda_*.cu instantiates one
// kernel for the same types and tiles as ladder_*.cpp does for the CPU. Private to src/matmul.
#pragma once

#include <span>
#include <string_view>

#include "ladder_tiles.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/kernels/tile_shape.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::detail {

/// Everything a kernel needs at run time; pointers to device memory. Checked before it gets here.
struct CudaCall {
  const Problem& problem;
  const TileShape& tile;
  const cuda::Stream& stream;
  const void* A;
  const void* B;
  void* C;
  const void* bias;
};

struct CudaEntry {
  std::string_view name;  ///< as in the ladder
  void (*run)(const CudaCall& call);
  int typed = kTypedOnCuda;  ///< so many tiles, from the first, are built for every type
};

/// In the order of the ladder; empty in a build without CUDA.
std::span<const CudaEntry> cuda_ladder();

extern const CudaEntry kCudaNaive, kCudaCoalescing, kCudaTiled, kCudaTiledRegister, kCudaBlockTiled,
    kCudaBlockTiledVectorized, kCudaTensorCore, kCudaPipelined, kCudaSingleBlock, kCudaTiledByHand,
    kCudaTiledIdiomatic, kCudaSarekNaive, kCudaSarekTiled, kCudaWarpgroup, kCudaThin,
    kCudaBulkTiled;

}  // namespace tessera::detail
