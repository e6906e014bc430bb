// `tiled_register` under the checker, in its tiles (kernels/tiled_register.hpp).
#include "checked.hpp"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedTiledRegister =
    CheckedLadder<TiledRegister, TiledRegisterTiles, f16>::entry("tiled_register");

}  // namespace tessera::detail
