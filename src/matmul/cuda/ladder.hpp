// The kernels of the ladder compiled for CUDA: a file for each, made from kernel.cu.in,
// instantiates it for the same types and tiles as ladder/kernel.cpp.in does for the CPU. Private to
// src/matmul.
#pragma once

#include <span>
#include <string_view>

#include "matmul/grouped_product.hpp"
#include "matmul/ladder/tiles.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/kernels/tile_shape.hpp"
#include "tessera/matmul/cuda.hpp"

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
  int parts = 1;                   ///< of K, for `warpgroup` and `thin`
  const void* packed_b = nullptr;  ///< planes of B, for `three_bf16`
};

/// cuda::run(), with planes of B where a plan of `three_bf16` has a packed one.
void run_on_cuda(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
                 const cuda::Stream& stream, const void* bias, const void* packed_b);

struct CudaEntry {
  std::string_view name;  ///< as in the ladder
  void (*run)(const CudaCall& call);
  int typed = kTypedOnCuda;  ///< the number of leading tiles that are built for every type
};

/// In the order of the ladder; empty in a build without CUDA.
std::span<const CudaEntry> cuda_ladder();

/// Products in as few launches as their arguments take, in one of group_tiles(). Bulk copies can
/// read their operands: why_no_bulk_operands().
void run_group_on_cuda(std::span<const GroupedProduct> products, const TileShape& tile,
                       const cuda::Stream& stream);
/// B (K,N) to where a PackedMatrix has it.
void pack_on_cuda(const ConstMatrix& B, cuda::PackedAs as, void* to, const cuda::Stream& stream);
/// Both, null in a build without CUDA.
struct CudaCalls {
  decltype(&run_group_on_cuda) group;
  decltype(&pack_on_cuda) pack;
};
CudaCalls cuda_calls();

// run_NAME_on_cuda(call) of each kernel.
#define TESSERA_LADDER(name, ...) void run_##name##_on_cuda(const CudaCall& call);
#define TESSERA_LADDER_UNITS(name, ...) TESSERA_LADDER(name)
#define TESSERA_LADDER_BULK(name, ...) TESSERA_LADDER(name)
#define TESSERA_LADDER_HOST(name)
#include "matmul/ladder.inc"

}  // namespace tessera::detail
