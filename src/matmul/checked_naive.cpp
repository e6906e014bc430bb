// `naive` under the checker, in its tiles (kernels/naive.hpp).
#include "checked.hpp"
#include "tessera/kernels/naive.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedNaive =
    CheckedLadder<Naive, ElementwiseTiles, f16, double>::entry("naive");

}  // namespace tessera::detail
