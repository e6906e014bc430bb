// The likely cause of a wrong answer, in sentences: from what the checker found, from what the
// wrong elements agree with, and from their positions.
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
  const PuzzleFinding* finding = nullptr;  ///< of the checker, that says so; of the attempt
};

/// Of an attempt that is not right.
Cause cause_of(const PuzzleAttempt& attempt);
/// The case that went wrong; null where no case did.
const PuzzleCase* wrong_case(const PuzzleAttempt& attempt);

}  // namespace tessera::course
