// `block_tiled_vectorized`, compiled for every type and its tiles
// (kernels/block_tiled_vectorized.hpp).
#include "ladder.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    Ladder<BlockTiledVectorized, 1, TileShape{.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8},
           TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8},
           TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4},
           TileShape{.bm = 128, .bn = 128, .bk = 32, .tm = 8, .tn = 16}>;
}

const LadderEntry kBlockTiledVectorized{
    {"block_tiled_vectorized", "loads of four elements (f64: two), A transposed in shared memory",
     Compiled::tiles, true, has_native_product},
    Compiled::run,
    "BlockTiledVectorized",
    wide_register_tile};

}  // namespace tessera::detail
