// Findings in terms of the learner's code: elements by their tensor, threads by their block.
#pragma once

#include "program.hpp"

namespace tessera::course {

void name_elements(PuzzleAttempt& attempt);

}  // namespace tessera::course
