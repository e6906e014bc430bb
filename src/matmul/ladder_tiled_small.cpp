// A smaller tile of `tiled` for every type: see ladder_tiled.cpp.
#include "ladder.hpp"
#include "tessera/kernels/tiled.hpp"

namespace tessera::detail {

template void run_every_type<Tiled<kTiledSmall>>(const LadderCall&);

}  // namespace tessera::detail
