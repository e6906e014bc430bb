// Local arrays of a kernel, such as `float sum[4]`: an index out of bounds ends the thread with an
// error that says so. The compiler checks indices with -fsanitize=bounds; puzzle/array_bounds.hpp
// has the handlers.
#pragma once

#include <cstdint>

#include "tessera/core/here.hpp"

namespace tessera::detail {

/// The running thread uses `index` of an array of type `array` ("'float [16]'"). Dies of SIGILL
/// where the running block has no observer; where no block runs at all, stderr says why.
[[noreturn]] void fail_outside_array(Here here, const char* array, std::int64_t index);

}  // namespace tessera::detail
