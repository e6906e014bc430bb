// `single_block` under the checker, in its tiles (kernels/single_block.hpp).
#include "checked.hpp"
#include "tessera/kernels/single_block.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedSingleBlock =
    CheckedLadder<SingleBlock, SingleBlockTiles, f16>::entry("single_block");

}  // namespace tessera::detail
