// `tessera multiply --memory SIZE`: products within a memory limit, however large their files are.
#pragma once

#include "inputs.hpp"

namespace tessera::product {

/// Without --memory: the limit for a product that takes less in blocks, one of a file with its
/// transpose or of files larger than the memory; 0 for others.
index_t default_limit(const MultiplyRequest& request);

int multiply_in_memory(const shell::Context& context, const MultiplyRequest& request);

}  // namespace tessera::product
