// `tensor_core` under the checker, in its tiles (kernels/tensor_core.hpp).
#include "checked.hpp"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

namespace {
using Compiled = CheckedLadder<TensorCoreTiled, false,
                               TileShape{.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 32},
                               TileShape{.bm = 128, .bn = 64, .bk = 32, .wm = 32, .wn = 32}>;
}

const CheckedEntry kCheckedTensorCore{"tensor_core", Compiled::tiles, Compiled::has_type,
                                      Compiled::run};

}  // namespace tessera::detail
