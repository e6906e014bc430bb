// Where sums may be cut along K.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera::scale {

/// Slices along K are multiples of the depth of the widest tile unit instruction: another cut would
/// round sums of bf16 and bytes differently.
constexpr index_t kDepthUnit = 64;

}  // namespace tessera::scale
