// `block_tiled_vectorized` under the checker, in its tiles (kernels/block_tiled_vectorized.hpp).
#include "checked.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"

namespace tessera::detail {

namespace {
using Compiled = CheckedLadder<BlockTiledVectorized, true,
                               TileShape{.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8},
                               TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8},
                               TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4},
                               TileShape{.bm = 128, .bn = 128, .bk = 32, .tm = 8, .tn = 16}>;
}

const CheckedEntry kCheckedBlockTiledVectorized{"block_tiled_vectorized", Compiled::tiles,
                                                Compiled::has_type, Compiled::run};

}  // namespace tessera::detail
