// `tiled_idiomatic` under the checker, in its tiles (kernels/tiled_idiomatic.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<TiledIdiomatic, false, TileShape{.bm = 32, .bn = 32, .bk = 32},
                  TileShape{.bm = 16, .bn = 16, .bk = 16}, TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const CheckedEntry kCheckedTiledIdiomatic{"tiled_idiomatic", Compiled::tiles, Compiled::has_type,
                                          Compiled::run};

}  // namespace tessera::detail
