// Tests whether two matrices share memory, and words the error. Called by make_problem, which
// refuses a C that overlaps A or B, and for batches. Private to src/matmul.
#pragma once

#include <string>

#include "footprint.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

/// May `a` and `c` share an element? As certain as base/overlap.hpp says. Neither
/// matrix is empty; what they reach fits in 64 bits.
inline bool may_overlap(const Footprint& a, const Footprint& c) {
  return a.low < c.high() && c.low < a.high() && tessera::may_overlap(a.bytes(), c.bytes());
}

/// The same of two matrices. Most are disjoint, as their ends say.
inline bool may_overlap(const ConstMatrix& a, const ConstMatrix& c) {
  const Reach of_a(a), of_c(c);
  return of_a.low < of_c.high && of_c.low < of_a.high && may_overlap(Footprint(a), Footprint(c));
}

/// "A f32 (4,4):(4,1), C f32 (4,4):(4,1) 16 bytes after it"
inline std::string places(std::string_view name, const ConstMatrix& m, const ConstMatrix& c) {
  const auto bytes = static_cast<const char*>(c.data) - static_cast<const char*>(m.data);
  return cat(name, " ", to_string(m), ", C ", to_string(c),
             bytes == 0  ? " at the same address"
             : bytes > 0 ? cat(" ", bytes, " bytes after it")
                         : cat(" ", -bytes, " bytes in front of it"));
}

}  // namespace tessera::detail
