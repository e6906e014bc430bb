// `block_tiled_vectorized` under the checker, in its tiles (kernels/block_tiled_vectorized.hpp).
#include "checked.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedBlockTiledVectorized =
    CheckedLadder<BlockTiledVectorized, BlockTiledVectorizedTiles, f16, double>::entry(
        "block_tiled_vectorized");

}  // namespace tessera::detail
