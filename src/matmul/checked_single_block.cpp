// `single_block` under the checker, in its tiles (kernels/single_block.hpp).
#include "checked.hpp"
#include "tessera/kernels/single_block.hpp"

namespace tessera::detail {

namespace {
using Compiled = CheckedLadder<SingleBlock, false, TileShape{.bm = 16, .bn = 16, .bk = 16},
                               TileShape{.bm = 3, .bn = 3, .bk = 3}>;
}

const CheckedEntry kCheckedSingleBlock{"single_block", Compiled::tiles, Compiled::has_type,
                                       Compiled::run};

}  // namespace tessera::detail
