// `tessera multiply --memory SIZE`: products in a budget of memory, however large their files.
#pragma once

#include "multiply_inputs.hpp"

namespace tessera::cli {

int multiply_in_memory(const shell::Context& context, const MultiplyRequest& request);

}  // namespace tessera::cli
