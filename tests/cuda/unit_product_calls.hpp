// The products of support/unit_product.hpp on a GPU (unit_product.cu).
#pragma once

#include <vector>

#include "tessera/cuda/runtime.hpp"

namespace tessera::testing {

/// For each kind of instruction, how many elements of C are wrong.
std::vector<int> wrong_units(const cuda::Stream& stream);

}  // namespace tessera::testing
