// `tiled_register` under the checker, in its tiles (kernels/tiled_register.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<TiledRegister, false, TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8},
                  TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 16},
                  TileShape{.bm = 32, .bn = 32, .bk = 8, .tm = 4}>;
}

const CheckedEntry kCheckedTiledRegister{"tiled_register", Compiled::tiles, Compiled::has_type,
                                         Compiled::run};

}  // namespace tessera::detail
