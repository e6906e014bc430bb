// `tiled` under the checker, in its tiles (kernels/tiled.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<Tiled, true, TileShape{.bm = 32, .bn = 32, .bk = 64}, kTiledSmall,
                  TileShape{.bm = 32, .bn = 32, .bk = 32}, TileShape{.bm = 8, .bn = 8, .bk = 8},
                  TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const CheckedEntry kCheckedTiled{"tiled", Compiled::tiles, Compiled::has_type, Compiled::run};

}  // namespace tessera::detail
