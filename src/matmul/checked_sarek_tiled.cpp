// `sarek_tiled` under the checker, in its tiles (kernels/sarek_tiled.hpp).
#include "checked.hpp"
#include "tessera/kernels/sarek_tiled.hpp"

namespace tessera::detail {

namespace {
using Compiled = CheckedLadder<SarekTiled, false, TileShape{.bm = 16, .bn = 16, .bk = 16},
                               TileShape{.bm = 32, .bn = 32, .bk = 32}>;
}

const CheckedEntry kCheckedSarekTiled{"sarek_tiled", Compiled::tiles, Compiled::has_type,
                                      Compiled::run};

}  // namespace tessera::detail
