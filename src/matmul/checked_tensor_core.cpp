// `tensor_core` under the checker, in its tiles (kernels/tensor_core.hpp).
#include "checked.hpp"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedTensorCore =
    CheckedLadder<TensorCoreTiled, TensorCoreTiles, f16>::entry("tensor_core");

}  // namespace tessera::detail
