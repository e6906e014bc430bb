// Which launches a device takes. Private to the run-time.
#pragma once

#include <cstddef>

#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/launch.h"

namespace tessera::plain_cuda {

/// False: it is refused as the CUDA run-time would, with its error and a finding.
bool require_possible(const char* kernel, const LaunchBounds& bounds, const Place& place, dim3 grid,
                      dim3 block, std::size_t shared_bytes);

}  // namespace tessera::plain_cuda
