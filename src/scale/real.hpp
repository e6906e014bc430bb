// Counts as floating-point numbers: products of extents need more than 64 bits.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera::scale {

inline double real(index_t n) { return static_cast<double>(n); }

}  // namespace tessera::scale
