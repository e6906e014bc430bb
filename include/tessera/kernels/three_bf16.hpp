// f32 as three bf16 each, on a warpgroup's units: WarpgroupTiled for operands in planes, which
// PackOperand<3> makes. See docs/kernels.md.
#pragma once

#include "tessera/kernels/pack_operand.hpp"
#include "tessera/kernels/warpgroup_tiled.hpp"

namespace tessera {

template <TileShape S>
using ThreeBf16Tiled = WarpgroupTiled<S, cluster_of(S), 0, Products::three_planes, Adds::threads>;

}  // namespace tessera
