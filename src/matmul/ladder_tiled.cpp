#include "ladder.hpp"
#include "tessera/kernels/tiled.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    Ladder<Tiled, TileShape{.bm = 32, .bn = 32, .bk = 64}, TileShape{.bm = 32, .bn = 32, .bk = 32},
           TileShape{.bm = 16, .bn = 16, .bk = 16}, TileShape{.bm = 8, .bn = 8, .bk = 8},
           TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const LadderEntry kTiled{{"tiled", "a block stages tiles of A and B in shared memory",
                          Compiled::tiles, true, has_native_product},
                         Compiled::run};

}  // namespace tessera::detail
