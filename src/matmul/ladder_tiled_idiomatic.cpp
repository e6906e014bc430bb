// `tiled_idiomatic` of the puzzles, compiled for every type and its tiles
// (kernels/tiled_idiomatic.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    Ladder<TiledIdiomatic, 1, TileShape{.bm = 32, .bn = 32, .bk = 32},
           TileShape{.bm = 16, .bn = 16, .bk = 16}, TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const LadderEntry kTiledIdiomatic{
    {"tiled_idiomatic", "tile views and asynchronous copies instead of index arithmetic (puzzle)",
     Compiled::tiles, true, has_native_product},
    Compiled::run,
    "TiledIdiomatic",
    staged_tile};

}  // namespace tessera::detail
