// `coalescing` under the checker, in its tiles (kernels/coalescing.hpp).
#include "checked.hpp"
#include "tessera/kernels/coalescing.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedCoalescing =
    CheckedLadder<Coalescing, ElementwiseTiles, f16>::entry("coalescing");

}  // namespace tessera::detail
