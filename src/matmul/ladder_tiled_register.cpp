// `tiled_register`, compiled for every type and its tiles (kernels/tiled_register.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

namespace {
using Compiled = Ladder<TiledRegister, TiledRegisterTiles>;
}

const LadderEntry kTiledRegister{
    {"tiled_register", "a thread owns a column of TM elements in registers", Compiled::tiles, true,
     has_native_product},
    Compiled::run,
    "TiledRegister",
    column_tile};

}  // namespace tessera::detail
