// `pipelined` under the checker, in its tiles (kernels/pipelined.hpp).
#include "checked.hpp"
#include "tessera/kernels/pipelined.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedPipelined =
    CheckedLadder<Pipelined, PipelinedTiles, f16>::entry("pipelined");

}  // namespace tessera::detail
