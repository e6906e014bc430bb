// The cuboid of multiply-adds cut into boxes, one for each rank, and the resulting communication.
#pragma once

#include <vector>

#include "tessera/scale/plan.hpp"

namespace tessera::scale {

/// Boxes of nearly equal volume that cover the cuboid and do not overlap, by proportional recursive
/// bisection: P = a + b ranks cut the longest or nearly longest extent as a : b. If there are more
/// ranks than positions, the boxes of the last ranks are empty.
std::vector<Box> cut_into_boxes(const Shape& shape, int ranks);

/// What one rank receives if each element starts (C: ends) on the ranks that use it, in equal
/// shares.
struct Received {
  double a = 0, b = 0, c = 0;  ///< elements
  index_t partners_a = 0, partners_b = 0, partners_c = 0;
};
std::vector<Received> received_by(const std::vector<Box>& boxes);

}  // namespace tessera::scale
