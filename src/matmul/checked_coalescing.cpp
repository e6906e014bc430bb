// `coalescing` under the checker, in its tiles (kernels/coalescing.hpp).
#include "checked.hpp"
#include "tessera/kernels/coalescing.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<Coalescing, false, TileShape{.bm = 32, .bn = 32}, TileShape{.bm = 16, .bn = 16}>;
}

const CheckedEntry kCheckedCoalescing{"coalescing", Compiled::tiles, Compiled::has_type,
                                      Compiled::run};

}  // namespace tessera::detail
