// One mistake often causes several findings: which are independent, and which follow from these.
#pragma once

#include <vector>

#include "causes.hpp"

namespace tessera::course {

/// The findings of a case that count.
struct PuzzleFindings {
  /// that of the cause first, and all independent ones:
  std::vector<const PuzzleFinding*> own;
  /// certain to vanish with one of these, or with the cause
  std::vector<const PuzzleFinding*> following;
};
PuzzleFindings findings_of(const PuzzleAttempt& attempt, const PuzzleCase& c, const Cause& cause);

/// "2 more findings follow from these"; "" if none does.
std::string following_text(const PuzzleFindings& findings);

}  // namespace tessera::course
