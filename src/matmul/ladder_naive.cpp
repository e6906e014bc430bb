// `naive`, compiled for every type and its tiles (kernels/naive.hpp).
#include "ladder.hpp"
#include "tessera/kernels/naive.hpp"

namespace tessera::detail {

namespace {
using Compiled = Ladder<Naive, ElementwiseTiles>;
}

const LadderEntry kNaive{
    {"naive", "one thread, one element of C, straight from global memory; neighbours take rows",
     Compiled::tiles, true, has_native_product},
    Compiled::run,
    "Naive",
    elementwise_tile};

}  // namespace tessera::detail
