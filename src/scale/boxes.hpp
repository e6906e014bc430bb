// The cuboid of multiply-adds cut into boxes, one for each rank.
#pragma once

#include <vector>

#include "plan.hpp"

namespace tessera::scale {

/// A rank between two others along K receives all of its sums and sends them on: with one cut there
/// is none.
enum class CutsOfK { any, one };

/// Boxes of nearly equal volume that cover the cuboid and do not overlap, by proportional recursive
/// bisection: P = a + b ranks cut the longest or nearly longest extent as a : b. K is cut at
/// multiples of `unit` only. If there are more ranks than positions, the boxes of the last ranks
/// are empty.
std::vector<Box> cut_into_boxes(const Shape& shape, int ranks, index_t unit = 1,
                                CutsOfK k = CutsOfK::any);

}  // namespace tessera::scale
