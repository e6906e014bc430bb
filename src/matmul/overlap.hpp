// Do two matrices share memory? Decided from pointers and strides, without touching an element.
// Called by make_problem, which refuses a C that overlaps A or B, and for batches. Private to
// src/matmul.
#pragma once

#include "footprint.hpp"

namespace tessera::detail {

/// May an element of `a` lie where an element of `c` lies? `false` is certain. `true` is certain
/// where both together have at most two strides (in bytes; extents of 1 and strides of 0 do not
/// count) and their elements lie on one grid. Otherwise `false` is found where the address ranges
/// are apart, or where the matrices are windows apart from each other modulo one of the strides or
/// modulo the greatest common divisor of all. Neither matrix is empty; what they reach fits in 64
/// bits.
bool may_overlap(const Footprint& a, const Footprint& c);

}  // namespace tessera::detail
