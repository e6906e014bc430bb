// `tiled` under the checker, in its tiles (kernels/tiled.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedTiled = CheckedLadder<Tiled, TiledTiles, f16, double>::entry("tiled");

}  // namespace tessera::detail
