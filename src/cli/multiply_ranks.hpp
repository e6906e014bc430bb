// `tessera multiply` under mpirun: one product on all ranks.
#pragma once

#include "multiply_inputs.hpp"

namespace tessera::cli {

int multiply_on_ranks(const shell::Context& context, MultiplyRequest request);

}  // namespace tessera::cli
