// Maps for the bulk copies of kernels on a GPU. Only in builds with CUDA.
#pragma once

#include "tessera/simt/bulk_map.hpp"

namespace tessera::cuda {

/// Throws Error(argument) where such a map is not possible, Error(unavailable) where the driver
/// does not support maps.
BulkMap tensor_map(const BulkFields& fields);

}  // namespace tessera::cuda
