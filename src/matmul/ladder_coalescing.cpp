// `coalescing`, compiled for every type and its tiles (kernels/coalescing.hpp).
#include "ladder.hpp"
#include "tessera/kernels/coalescing.hpp"

namespace tessera::detail {

namespace {
using CompiledCoalescing = Ladder<Coalescing, ElementwiseTiles>;
}

const LadderEntry kCoalescing{
    {"coalescing", "neighbouring threads take neighbouring columns: loads share sectors",
     CompiledCoalescing::tiles, true, has_native_product},
    CompiledCoalescing::run,
    "Coalescing",
    elementwise_tile};

}  // namespace tessera::detail
