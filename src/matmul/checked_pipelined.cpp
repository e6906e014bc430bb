// `pipelined` under the checker, in its tiles (kernels/pipelined.hpp).
#include "checked.hpp"
#include "tessera/kernels/pipelined.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<Pipelined, false, TileShape{.bm = 128, .bn = 128, .bk = 16, .tm = 8, .tn = 8},
                  TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4}>;
}

const CheckedEntry kCheckedPipelined{"pipelined", Compiled::tiles, Compiled::has_type,
                                     Compiled::run};

}  // namespace tessera::detail
