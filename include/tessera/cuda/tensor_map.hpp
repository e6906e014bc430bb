// Maps for the bulk copies of kernels on a GPU. Only in builds with CUDA.
#pragma once

#include "tessera/simt/bulk_map.hpp"

namespace tessera::cuda {

/// Throws Error(argument) where there is no such map, Error(unavailable) where the driver makes
/// none.
BulkMap tensor_map(const BulkFields& fields);

}  // namespace tessera::cuda
