// `tessera multiply --memory SIZE`: products within a memory limit, however large their files are.
#pragma once

#include "inputs.hpp"

namespace tessera::product {

int multiply_in_memory(const shell::Context& context, const MultiplyRequest& request);

}  // namespace tessera::product
