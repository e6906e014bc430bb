// One fault often gives several findings: which are its own, and which follow from these.
#pragma once

#include <vector>

#include "causes.hpp"

namespace tessera::course {

/// Those of a case that count.
struct PuzzleFindings {
  std::vector<const PuzzleFinding*> own;        ///< that of the cause first, and all that are not:
  std::vector<const PuzzleFinding*> following;  ///< sure to vanish with one of these, or the cause
};
PuzzleFindings findings_of(const PuzzleAttempt& attempt, const PuzzleCase& c, const Cause& cause);

/// "2 more findings follow from these"; "" where none does.
std::string following_text(const PuzzleFindings& findings);

}  // namespace tessera::course
