// `tiled_idiomatic` of the puzzles, compiled for every type and its tiles
// (kernels/tiled_idiomatic.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"

namespace tessera::detail {

namespace {
using CompiledTiledIdiomatic = Ladder<TiledIdiomatic, TiledIdiomaticTiles>;
}

const LadderEntry kTiledIdiomatic{
    {"tiled_idiomatic", "tile views and asynchronous copies instead of index arithmetic (puzzle)",
     CompiledTiledIdiomatic::tiles, true, has_native_product},
    CompiledTiledIdiomatic::run,
    "TiledIdiomatic",
    staged_tile};

}  // namespace tessera::detail
