// `naive` under the checker, in its tiles (kernels/naive.hpp).
#include "checked.hpp"
#include "tessera/kernels/naive.hpp"

namespace tessera::detail {

namespace {
using Compiled =
    CheckedLadder<Naive, true, TileShape{.bm = 32, .bn = 32}, TileShape{.bm = 16, .bn = 16}>;
}

const CheckedEntry kCheckedNaive{"naive", Compiled::tiles, Compiled::has_type, Compiled::run};

}  // namespace tessera::detail
