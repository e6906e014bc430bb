// `bulk_tiled`, for f32 in its tiles (kernels/bulk_tiled.hpp). Operands that bulk copies cannot
// read are multiplied by `pipelined`.
#include "matmul/bulk_tiled_operands.hpp"
#include "matmul/ladder.hpp"

namespace tessera::detail {

std::string why_no_bulk_tiles(const Problem& p, const void* a, const void* b) {
  if (!reads_operands(p)) return {};
  using Kernel = BulkTiled<BulkTiledTiles::tiles[0]>;
  for (const auto& [name, operand] :
       {std::pair{"A: ", operand_a(p, a)}, std::pair{"B: ", operand_b(p, b)}}) {
    if (!operand.is_along_mn() && !operand.is_along_k())
      return cat(name, "neither its rows nor its columns are contiguous");
    const auto why =
        why_no_map(operand.is_along_mn() ? operand.fields<typename Kernel::TileB<float>>()
                                         : operand.fields<typename Kernel::TileA<float>>());
    if (!why.empty()) return cat(name, why);
  }
  return {};
}

const TileShape& tile_of_pipelined(const TileShape& tile) {
  return PipelinedTiles::tiles[tile == BulkTiledTiles::tiles[0] ? 0 : 2];
}

namespace {

template <TileShape S>
void run_tile(const LadderCall& call) {
  const Problem& p = call.problem;
  with_bulk_tiles<S>(
      p, call.A, call.B, call.C, call.bias, software_map,
      [&]<class Kernel>(const Kernel& kernel, const auto& A, const auto& B, const auto& C) {
        LaunchConfig config = call.config;
        config.grid = Kernel::grid(p.M, p.N);
        config.block = Kernel::block;
        launch(config, kernel, A, B, C);
      });
}

}  // namespace

void run_bulk_tiled(const LadderCall& call) {
  if (!why_no_bulk_tiles(call.problem, call.A, call.B).empty())
    return run_pipelined({call.problem, tile_of_pipelined(call.tile), call.config, call.A, call.B,
                          call.C, call.bias});
  if (call.tile == BulkTiledTiles::tiles[0]) run_tile<BulkTiledTiles::tiles[0]>(call);
  else run_tile<BulkTiledTiles::tiles[1]>(call);
}

LadderEntry entry_of_bulk_tiled() {
  return {{"bulk_tiled", "as pipelined, by bulk copies that one thread starts (Hopper)",
           BulkTiledTiles::tiles, true, is_f32_product, BulkTiledTiles::typed},
          run_bulk_tiled,
          "BulkTiled",
          bulk_tile};
}

}  // namespace tessera::detail
