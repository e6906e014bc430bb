// `tiled_by_hand` under the checker, in its tiles (kernels/tiled_by_hand.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedTiledByHand =
    CheckedLadder<TiledByHand, TiledByHandTiles, f16>::entry("tiled_by_hand");

}  // namespace tessera::detail
