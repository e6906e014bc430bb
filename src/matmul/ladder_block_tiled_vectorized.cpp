// `block_tiled_vectorized`, compiled for every type and its tiles
// (kernels/block_tiled_vectorized.hpp).
#include "ladder.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"

namespace tessera::detail {

namespace {
using CompiledBlockTiledVectorized = Ladder<BlockTiledVectorized, BlockTiledVectorizedTiles>;
}

const LadderEntry kBlockTiledVectorized{
    {"block_tiled_vectorized", "loads of four elements (f64: two), A transposed in shared memory",
     CompiledBlockTiledVectorized::tiles, true, has_native_product},
    CompiledBlockTiledVectorized::run,
    "BlockTiledVectorized",
    wide_register_tile};

}  // namespace tessera::detail
