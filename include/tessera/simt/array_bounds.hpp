// Arrays of a kernel's own, such as `float sum[4]`: an index outside of one ends the thread with
// that as the reason. A compiler looks at each index where -fsanitize=bounds asks for it; what
// answers is puzzle/array_bounds.hpp.
#pragma once

#include <cstdint>

#include "tessera/core/here.hpp"

namespace tessera::detail {

/// The running thread uses `index` of an array of type `array` ("'float [16]'"). Dies of SIGILL
/// where no block runs that is watched; where none runs at all, stderr says why.
[[noreturn]] void fail_outside_array(Here here, const char* array, std::int64_t index);

}  // namespace tessera::detail
