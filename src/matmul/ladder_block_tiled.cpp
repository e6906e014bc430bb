// `block_tiled`, compiled for every type and its tiles (kernels/block_tiled.hpp). One of the tiles
// is compiled beside it, in ladder_block_tiled_small.cpp, to keep each file quick.
#include "ladder.hpp"
#include "tessera/kernels/block_tiled.hpp"

namespace tessera::detail {

extern template void run_every_type<BlockTiled<kBlockTiledSmall>>(const LadderCall&);

namespace {
using CompiledBlockTiled = Ladder<BlockTiled, BlockTiledTiles>;
}

const LadderEntry kBlockTiled{
    {"block_tiled", "a thread owns a TM x TN tile: outer products in registers",
     CompiledBlockTiled::tiles, true, has_native_product, CompiledBlockTiled::typed},
    CompiledBlockTiled::run,
    "BlockTiled",
    register_tile};

}  // namespace tessera::detail
