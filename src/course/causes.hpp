// The likely cause of a wrong answer, in sentences: from the checker's findings, from values that
// the wrong elements equal, and from their positions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace tessera::course {

struct Cause {
  std::string id;     ///< "missing-barrier"
  std::string title;  ///< "a barrier is missing"
  std::string sentence;
  std::string advice;
  /// the checker's finding that shows it; owned by the attempt
  const PuzzleFinding* finding = nullptr;
};

/// For an attempt that is not right.
Cause cause_of(const PuzzleAttempt& attempt);
/// The wrong case; null if no case was wrong.
const PuzzleCase* wrong_case(const PuzzleAttempt& attempt);

}  // namespace tessera::course
