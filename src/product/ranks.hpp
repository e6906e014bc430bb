// `tessera multiply` under mpirun: one product on all ranks.
#pragma once

#include <functional>

#include "inputs.hpp"

namespace tessera::product {

/// `check` throws for a request that is wrong on any number of ranks.
int multiply_on_ranks(const shell::Context& context, MultiplyRequest request,
                      const std::function<void()>& check);

}  // namespace tessera::product
