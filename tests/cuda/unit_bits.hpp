// Matrix instructions on random bits, on a GPU and by the arithmetic of ops/unit_arithmetic.hpp.
// The bits that a unit keeps are known from published measurements; here a GPU is measured.
#pragma once

#include <vector>

#include "support/unit_comparison.hpp"

namespace tessera::testing {

/// Every instruction that this device has, with operands of every kind. Empty where the arithmetic
/// of its units is not known here: neither sm_80 nor sm_90.
std::vector<UnitReport> compare_unit_bits(int tiles);

}  // namespace tessera::testing
