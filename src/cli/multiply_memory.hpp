// `tessera multiply --memory SIZE`: products within a memory limit, however large their files are.
#pragma once

#include "multiply_inputs.hpp"

namespace tessera::cli {

int multiply_in_memory(const shell::Context& context, const MultiplyRequest& request);

}  // namespace tessera::cli
