// `bulk_tiled` for CUDA (kernels/bulk_tiled.hpp). A device without bulk copies, and operands that
// they cannot read, get `pipelined`.
#include "cuda/abilities.hpp"
#include "ladder.hpp"
#include "matmul/bulk_tiled_operands.hpp"
#include "matmul/ladder.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"

namespace tessera::detail {

namespace {

template <TileShape S>
void run_tile(const CudaCall& call) {
  const Problem& p = call.problem;
  with_bulk_tiles<S>(
      p, call.A, call.B, call.C, call.bias, cuda::tensor_map,
      [&]<class Kernel>(const Kernel& kernel, const auto& A, const auto& B, const auto& C) {
        cuda::launch(call.stream, Kernel::grid(p.M, p.N), kernel, A, B, C);
      });
}

}  // namespace

void run_bulk_tiled_on_cuda(const CudaCall& call) {
  if (cuda::abilities(call.stream.device()).capability != 90 ||
      !why_no_bulk_tiles(call.problem, call.A, call.B).empty())
    return run_pipelined_on_cuda({call.problem, tile_of_pipelined(call.tile), call.stream, call.A,
                                  call.B, call.C, call.bias});
  if (call.tile == BulkTiledTiles::tiles[0]) run_tile<BulkTiledTiles::tiles[0]>(call);
  else run_tile<BulkTiledTiles::tiles[1]>(call);
}

}  // namespace tessera::detail
