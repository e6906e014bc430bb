// `tiled_by_hand` of the puzzles, compiled for every type and its tiles
// (kernels/tiled_by_hand.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    Ladder<TiledByHand, 1, TileShape{.bm = 16, .bn = 16, .bk = 16},
           TileShape{.bm = 32, .bn = 32, .bk = 32}, TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const LadderEntry kTiledByHand{
    {"tiled_by_hand", "tiled in index arithmetic: each thread guards its own loads (puzzle)",
     Compiled::tiles, true, has_native_product},
    Compiled::run,
    "TiledByHand",
    cube_tile};

}  // namespace tessera::detail
