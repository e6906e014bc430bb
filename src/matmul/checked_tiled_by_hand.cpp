// `tiled_by_hand` under the checker, in its tiles (kernels/tiled_by_hand.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<TiledByHand, false, TileShape{.bm = 16, .bn = 16, .bk = 16},
                  TileShape{.bm = 32, .bn = 32, .bk = 32}, TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const CheckedEntry kCheckedTiledByHand{"tiled_by_hand", Compiled::tiles, Compiled::has_type,
                                       Compiled::run};

}  // namespace tessera::detail
