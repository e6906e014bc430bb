// `single_block` of the puzzles, compiled for every type and its tiles (kernels/single_block.hpp).
#include "ladder.hpp"
#include "tessera/kernels/single_block.hpp"

namespace tessera::detail {

namespace {
using CompiledSingleBlock = Ladder<SingleBlock, SingleBlockTiles>;
}

const LadderEntry kSingleBlock{
    {"single_block", "one block computes all of C through shared memory (puzzle)",
     CompiledSingleBlock::tiles, true, has_native_product},
    CompiledSingleBlock::run,
    "SingleBlock",
    cube_tile};

}  // namespace tessera::detail
