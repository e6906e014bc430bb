// `sarek_tiled` under the checker, in its tiles (kernels/sarek_tiled.hpp).
#include "checked.hpp"
#include "tessera/kernels/sarek_tiled.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedSarekTiled =
    CheckedLadder<SarekTiled, SarekTiledTiles, f16>::entry("sarek_tiled");

}  // namespace tessera::detail
