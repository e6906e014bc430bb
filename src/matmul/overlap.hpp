// Do two matrices share memory? Called by make_problem, which refuses a C that overlaps A or B, and
// for batches. Private to src/matmul.
#pragma once

#include "footprint.hpp"

namespace tessera::detail {

/// May an element of `a` lie where an element of `c` lies? As core/overlap.hpp says it. Neither
/// matrix is empty; what they reach fits in 64 bits.
inline bool may_overlap(const Footprint& a, const Footprint& c) {
  return a.low < c.high() && c.low < a.high() && tessera::may_overlap(a.bytes(), c.bytes());
}

}  // namespace tessera::detail
