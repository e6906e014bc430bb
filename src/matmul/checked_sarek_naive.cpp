// `sarek_naive` under the checker, in its tiles (kernels/sarek_naive.hpp).
#include "checked.hpp"
#include "tessera/kernels/sarek_naive.hpp"

namespace tessera::detail {

namespace {
using Compiled = CheckedLadder<SarekNaive, false, TileShape{.bm = 1, .bn = 256}>;
}

const CheckedEntry kCheckedSarekNaive{"sarek_naive", Compiled::tiles, Compiled::has_type,
                                      Compiled::run};

}  // namespace tessera::detail
