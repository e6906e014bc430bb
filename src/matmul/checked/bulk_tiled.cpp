// `bulk_tiled` under the checker, in its tiles. Operands that bulk copies cannot read are
// multiplied by `pipelined`, as in every run.
#include "matmul/bulk_tiled_operands.hpp"
#include "matmul/checked.hpp"

namespace tessera::detail {

namespace {

using CheckedBulkTiles = CompiledTiles<BulkTiledTiles>;

template <TileShape S>
check::Report check_tile(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  check::Report report;
  with_bulk_tiles<S>(
      p, call.A, call.B, call.C, call.bias, software_map,
      [&]<class Kernel>(const Kernel& kernel, const auto& A, const auto& B, const auto& C) {
        report = check::check(options, Kernel::grid(p.M, p.N), kernel, A, B, C);
      });
  return report;
}

check::Report run_bulk_checked(const LadderCall& call, const check::Options& options) {
  if (!why_no_bulk_tiles(call.problem, call.A, call.B).empty())
    return checked_pipelined().run({call.problem, tile_of_pipelined(call.tile), call.config, call.A,
                                    call.B, call.C, call.bias},
                                   options);
  constexpr auto& tiles = CheckedBulkTiles::tiles;
  constexpr TileShape last = tiles[std::size(tiles) - 1];
  return call.tile == last ? check_tile<last>(call, options) : check_tile<tiles[0]>(call, options);
}

bool has_bulk_type(DType in, DType out, const TileShape&) { return is_f32_product(in, out); }

RingOf ring_of_bulk_tiled(DType, const TileShape& tile) {
  const bool is_first = tile == BulkTiledTiles::tiles[0];
  return {tile.bk,
          is_first ? BulkTiled<BulkTiledTiles::tiles[0]>::stages_of<float>()
                   : BulkTiled<BulkTiledTiles::tiles[1]>::stages_of<float>(),
          check::ProductStrides::aligned};
}

}  // namespace

CheckedEntry checked_bulk_tiled() {
  return {"bulk_tiled", CheckedBulkTiles::tiles, has_bulk_type, run_bulk_checked,
          ring_of_bulk_tiled};
}

}  // namespace tessera::detail
