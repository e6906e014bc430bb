// `naive`, compiled for every type and its tiles (kernels/naive.hpp).
#include "ladder.hpp"
#include "tessera/kernels/naive.hpp"

namespace tessera::detail {

namespace {
using CompiledNaive = Ladder<Naive, ElementwiseTiles>;
}

const LadderEntry kNaive{
    {"naive", "one thread, one element of C, straight from global memory; neighbours take rows",
     CompiledNaive::tiles, true, has_native_product},
    CompiledNaive::run,
    "Naive",
    elementwise_tile};

}  // namespace tessera::detail
