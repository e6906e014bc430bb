// The primitives on device 0, an sm_90.
#pragma once

#include <string_view>

#include "primitive.hpp"

namespace tessera::primitives {

/// Throws Error(unavailable) where there is no such device, and what CUDA says of a failure.
Dump record_on_gpu(std::string_view name);

/// P10 and P11: clocks.cu.
Dump record_p10();
Dump record_p11();

}  // namespace tessera::primitives
