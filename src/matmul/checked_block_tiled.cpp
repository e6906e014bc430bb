// `block_tiled` under the checker, in its tiles (kernels/block_tiled.hpp).
#include "checked.hpp"
#include "tessera/kernels/block_tiled.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedBlockTiled =
    CheckedLadder<BlockTiled, BlockTiledTiles, f16>::entry("block_tiled");

}  // namespace tessera::detail
