// `tiled_idiomatic` under the checker, in its tiles (kernels/tiled_idiomatic.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedTiledIdiomatic =
    CheckedLadder<TiledIdiomatic, TiledIdiomaticTiles, f16>::entry("tiled_idiomatic");

}  // namespace tessera::detail
