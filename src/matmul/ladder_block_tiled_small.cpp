// A smaller tile of `block_tiled` for every type: see ladder_block_tiled.cpp.
#include "ladder.hpp"
#include "tessera/kernels/block_tiled.hpp"

namespace tessera::detail {

template void run_every_type<BlockTiled<kBlockTiledSmall>>(const LadderCall&);

}  // namespace tessera::detail
