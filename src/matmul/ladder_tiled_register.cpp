// `tiled_register`, compiled for every type and its tiles (kernels/tiled_register.hpp).
#include "ladder.hpp"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

namespace {
using CompiledTiledRegister = Ladder<TiledRegister, TiledRegisterTiles>;
}

const LadderEntry kTiledRegister{
    {"tiled_register", "a thread owns a column of TM elements in registers",
     CompiledTiledRegister::tiles, true, has_native_product},
    CompiledTiledRegister::run,
    "TiledRegister",
    column_tile};

}  // namespace tessera::detail
