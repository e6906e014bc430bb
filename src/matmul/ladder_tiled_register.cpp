// `tiled_register`, compiled for every type and its tiles (kernels/tiled_register.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

namespace {
using Compiled = Ladder<TiledRegister, 1, TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8},
                        TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 16},
                        TileShape{.bm = 32, .bn = 32, .bk = 8, .tm = 4}>;
}

const LadderEntry kTiledRegister{
    {"tiled_register", "a thread owns a column of TM elements in registers", Compiled::tiles, true,
     has_native_product},
    Compiled::run,
    "TiledRegister",
    column_tile};

}  // namespace tessera::detail
