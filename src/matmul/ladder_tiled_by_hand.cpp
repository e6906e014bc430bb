// `tiled_by_hand` of the puzzles, compiled for every type and its tiles
// (kernels/tiled_by_hand.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"

namespace tessera::detail {

namespace {
using CompiledTiledByHand = Ladder<TiledByHand, TiledByHandTiles>;
}

const LadderEntry kTiledByHand{
    {"tiled_by_hand", "tiled in index arithmetic: each thread guards its own loads (puzzle)",
     CompiledTiledByHand::tiles, true, has_native_product},
    CompiledTiledByHand::run,
    "TiledByHand",
    cube_tile};

}  // namespace tessera::detail
