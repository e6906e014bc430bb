// The kernels of the ladder compiled for CUDA: a file for each, made from cuda_kernel.cu.in,
// instantiates it for the same types and tiles as ladder_kernel.cpp.in does for the CPU. Private to
// src/matmul.
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
  int typed = kTypedOnCuda;  ///< the number of leading tiles that are built for every type
};

/// In the order of the ladder; empty in a build without CUDA.
std::span<const CudaEntry> cuda_ladder();

// run_NAME_on_cuda(call) of each kernel.
#define TESSERA_LADDER(name, ...) void run_##name##_on_cuda(const CudaCall& call);
#define TESSERA_LADDER_UNITS(name, ...) TESSERA_LADDER(name)
#define TESSERA_LADDER_BULK(name, ...) TESSERA_LADDER(name)
#define TESSERA_LADDER_HOST(name)
#include "ladder.inc"

}  // namespace tessera::detail
