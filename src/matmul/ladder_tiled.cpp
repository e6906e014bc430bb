// `tiled`, compiled for every type and its tiles (kernels/tiled.hpp). One of the tiles is compiled
// beside it, in ladder_tiled_small.cpp, to keep each file quick.
#include "ladder.hpp"
#include "tessera/kernels/tiled.hpp"

namespace tessera::detail {

extern template void run_every_type<Tiled<kTiledSmall>>(const LadderCall&);

namespace {
using CompiledTiled = Ladder<Tiled, TiledTiles>;
}

const LadderEntry kTiled{{"tiled", "a block stages tiles of A and B in shared memory",
                          CompiledTiled::tiles, true, has_native_product, CompiledTiled::typed},
                         CompiledTiled::run,
                         "Tiled",
                         staged_tile};

}  // namespace tessera::detail
