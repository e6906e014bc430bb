// Which launches a device accepts. Private to the runtime.
#pragma once

#include <cstddef>

#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/launch.h"

namespace tessera::plain_cuda {

/// False: refused, with the error of the CUDA runtime and a finding.
bool require_possible(const char* kernel, const LaunchBounds& bounds, const Place& place, dim3 grid,
                      dim3 block, std::size_t shared_bytes);
/// The same of the cluster: `cluster` becomes what __cluster_dims__ has declared, where the launch
/// requests none.
bool require_cluster(const char* kernel, const Place& place, dim3 grid, const ClusterDims& declared,
                     dim3& cluster);

}  // namespace tessera::plain_cuda
