// `sarek_tiled` with its named supersteps, compiled for every type and its tiles
// (kernels/sarek_tiled.hpp).
#include "ladder.hpp"
#include "tessera/kernels/sarek_tiled.hpp"

namespace tessera::detail {

namespace {
using CompiledSarekTiled = Ladder<SarekTiled, SarekTiledTiles>;
}

const LadderEntry kSarekTiled{{"sarek_tiled", "tiles of 16 x 16 in three named supersteps (Sarek)",
                               CompiledSarekTiled::tiles, true, has_native_product},
                              CompiledSarekTiled::run,
                              "SarekTiled",
                              cube_tile};

}  // namespace tessera::detail
